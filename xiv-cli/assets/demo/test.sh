#!/bin/sh
# The tests: each line says what was wrong.
failed=0
check() {
    if [ "$2" != "$3" ]; then
        echo "$1: expected '$3', got '$2'"
        failed=1
    fi
}
check 'a name' "$(sh greet.sh Ada)" 'Hello, Ada!'
check 'no name' "$(sh greet.sh)" 'Hello, world!'
exit $failed
