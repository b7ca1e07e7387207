#!/bin/sh
# Greets somebody. Not finished: see the issue GREET-1.
echo "Hello"
