//! Real processes, misbehaving in every way that agents were seen to.

use std::future::{pending, ready};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::{
    Captured, Ended, Environment, Exit, Finished, Flow, Limits, Line, ProcessSpec, Program,
    StartError, StderrMode, Stop, StopSignal, Stream, Transcript, output, run, run_until,
};
use crate::port::{Cancel, CancelReason, Events, StepContext, StepEvent};
use crate::rt::SystemClock;
use crate::rt::sweep::{Keep, MARK_VARIABLE, MarkKey};

/// The time that a stop may take altogether, as the driver counts it.
const STOP_BUDGET: Duration = Duration::from_secs(15);

fn key(name: &str) -> MarkKey {
    MarkKey::new(format!("{name}-{}-{:?}", std::process::id(), Instant::now()).replace(':', "."))
        .expect("a valid key")
}

fn sh(script: &str) -> ProcessSpec {
    ProcessSpec::new("sh", Environment::inherited(), "/").with_args(["-c", script])
}

/// A short ladder, so that tests of the last rung do not take five seconds.
fn impatient() -> Stop {
    Stop {
        grace: Duration::from_millis(400),
        linger: Duration::from_millis(400),
        ..Stop::default()
    }
}

/// Looks for `needle` in every environment, by other means than the sweep.
fn carriers(needle: &MarkKey) -> Vec<String> {
    let needle = needle.as_str().as_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").expect("/proc").flatten() {
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if environ.windows(needle.len()).any(|window| window == needle) {
            let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(String::from_utf8_lossy(&command).replace('\0', " "));
        }
    }
    found
}

async fn collect(spec: ProcessSpec) -> (Finished, Vec<(Stream, String)>) {
    let mut lines = Vec::new();
    let mut on_line = |line: Line<'_>| {
        lines.push((line.stream, line.text().into_owned()));
        Flow::Continue
    };
    let finished = run_until(spec, &mut on_line, pending())
        .await
        .expect("starts");
    (finished, lines)
}

/// Waits until `path` exists: the script is where the test wants it.
async fn wait_for(path: &Path) {
    for _ in 0..2000 {
        if path.exists() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{} never appeared", path.display());
}

#[tokio::test]
async fn lines_of_both_streams_arrive_and_the_exit_code_is_known() {
    let (finished, lines) = collect(sh("echo one; echo two >&2; printf three; exit 7")).await;
    assert_eq!(finished.exit, Exit::Code(7));
    assert_eq!(finished.ended, Ended::Exited);
    assert!(!finished.forced);
    assert_eq!(finished.stderr_tail, "two\n");
    let of = |stream| {
        lines
            .iter()
            .filter(|(s, _)| *s == stream)
            .map(|(_, l)| l.as_str())
            .collect::<Vec<_>>()
    };
    assert_eq!(of(Stream::Stdout), ["one", "three"]);
    assert_eq!(of(Stream::Stderr), ["two"]);
}

#[tokio::test]
async fn merged_streams_keep_the_order_of_printing() {
    let spec = sh("echo a; echo b >&2; echo c").with_stderr(StderrMode::Merged);
    let (_, lines) = collect(spec).await;
    let texts: Vec<_> = lines.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(texts, ["a", "b", "c"]);
}

#[tokio::test]
async fn death_by_signal_is_not_an_exit_code() {
    let (finished, _) = collect(sh("kill -9 $$")).await;
    assert_eq!(finished.exit, Exit::Signal(9));
    assert_eq!(finished.ended, Ended::Exited);
}

#[tokio::test]
async fn what_does_not_start_says_why() {
    let none = |spec| async {
        run_until(spec, &mut |_| Flow::Continue, pending())
            .await
            .expect_err("must not start")
    };
    let env = || Environment::inherited();
    let missing = none(ProcessSpec::new("xiv-no-such-program", env(), "/")).await;
    assert!(matches!(missing, StartError::NotFound(_)), "{missing:?}");
    let nowhere = none(ProcessSpec::new("sh", env(), "/xiv/no/such/folder")).await;
    assert!(
        matches!(nowhere, StartError::WorkingDirectory { .. }),
        "{nowhere:?}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let broken = folder.path().join("broken");
    std::fs::write(&broken, "#!/xiv/no/such/interpreter\n").expect("written");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&broken, mode).expect("executable");
    let refused = none(ProcessSpec::new("./broken", env(), folder.path())).await;
    assert!(matches!(refused, StartError::Refused { .. }), "{refused:?}");
}

#[tokio::test]
async fn a_line_of_a_megabyte_arrives_whole_and_a_longer_one_is_cut() {
    let script = "head -c 1048576 /dev/zero | tr '\\0' x; echo; echo end";
    let (finished, lines) = collect(sh(script)).await;
    assert_eq!(lines[0].1.len(), 1 << 20);
    assert_eq!(lines[1].1, "end");
    assert_eq!(finished.dropped, 0);

    let limits = Limits {
        line: 1000,
        ..Limits::default()
    };
    let (finished, lines) = collect(sh(script).with_limits(limits)).await;
    assert_eq!(lines[0].1.len(), 1000);
    assert_eq!(lines[1].1, "end");
    assert_eq!(finished.dropped, (1 << 20) - 1000 + 1);
}

#[tokio::test]
async fn a_stream_beyond_its_limit_is_drained_and_dropped() {
    let limits = Limits {
        stream: 100_000,
        ..Limits::default()
    };
    let script = "i=0; while [ $i -lt 5000 ]; do printf '%0100d\\n' $i; i=$((i+1)); done; exit 3";
    let (finished, lines) = collect(sh(script).with_limits(limits)).await;
    assert_eq!(finished.exit, Exit::Code(3));
    let kept: u64 = lines.iter().map(|(_, line)| line.len() as u64 + 1).sum();
    assert!(kept <= 100_101, "kept {kept}");
    assert_eq!(finished.dropped, 5000 * 101 - 100_000);
}

#[tokio::test]
async fn stdin_arrives_whole_and_is_closed() {
    let huge = vec![b'x'; 5 << 20];
    let (finished, lines) = collect(sh("wc -c").with_stdin(huge)).await;
    assert_eq!(finished.exit, Exit::Code(0));
    assert_eq!(lines[0].1.trim(), (5 << 20).to_string());
    let (_, lines) = collect(sh("wc -c")).await;
    assert_eq!(lines[0].1.trim(), "0");
}

#[tokio::test]
async fn stdin_that_is_never_read_is_no_error() {
    let huge = || vec![b'x'; 5 << 20];
    let (finished, _) = collect(sh("exit 0").with_stdin(huge())).await;
    assert_eq!(finished.exit, Exit::Code(0));
    let (finished, lines) = collect(sh("exec 0<&-; sleep 0.2; echo done").with_stdin(huge())).await;
    assert_eq!(
        (finished.exit, lines[0].1.as_str()),
        (Exit::Code(0), "done")
    );
}

#[tokio::test]
async fn output_is_read_while_stdin_is_fed() {
    let huge = vec![b'y'; 3 << 20];
    let captured = output(sh("cat; cat >&2 </dev/null").with_stdin(huge.clone())).await;
    let captured = captured.expect("starts");
    assert!(captured.is_success());
    assert_eq!(captured.stdout, huge);
}

#[tokio::test]
async fn the_tail_of_stderr_is_bounded() {
    let limits = Limits {
        stderr_tail: 50,
        ..Limits::default()
    };
    let script = "i=0; while [ $i -lt 1000 ]; do echo line-$i >&2; i=$((i+1)); done";
    let (finished, _) = collect(sh(script).with_limits(limits)).await;
    assert!(finished.stderr_tail.len() <= 50);
    assert!(
        finished.stderr_tail.starts_with("line-99"),
        "{:?}",
        finished.stderr_tail
    );
    assert!(finished.stderr_tail.ends_with("line-999\n"));
}

#[tokio::test]
async fn nothing_that_a_clean_exit_leaves_behind_survives() {
    for leak in [
        "sleep 300 &",
        "nohup sleep 300 >/dev/null 2>&1 &",
        "setsid sleep 300 &",
        "setsid sh -c 'sleep 300 & sleep 300' &",
        "(trap '' TERM INT HUP; exec setsid sleep 300) &",
        "setsid sh -c 'env -i sleep 300; true' &",
    ] {
        let key = key("leak");
        let begin = Instant::now();
        let spec = sh(&format!("{leak} sleep 0.1; echo done")).with_mark(key.clone());
        let (finished, lines) = collect(spec).await;
        assert_eq!(finished.exit, Exit::Code(0), "{leak}");
        assert_eq!(lines[0].1, "done", "{leak}");
        assert_eq!(carriers(&key), Vec::<String>::new(), "{leak}");
        assert!(
            begin.elapsed() < STOP_BUDGET,
            "{leak} took {:?}",
            begin.elapsed()
        );
        if leak.contains("setsid") {
            assert!(!finished.swept.is_empty(), "{leak}");
        }
    }
}

#[tokio::test]
async fn a_child_without_the_mark_is_found_through_its_living_parent() {
    let folder = tempfile::tempdir().expect("a folder");
    let pid_file = folder.path().join("pid");
    let script = format!(
        "setsid sh -c 'env -i sh -c \"echo \\$\\$ >{}; exec sleep 300\"; true' & sleep 0.5",
        pid_file.display()
    );
    let (_, _) = collect(sh(&script).with_mark(key("unmarked"))).await;
    let pid: u32 = std::fs::read_to_string(&pid_file)
        .expect("the child ran")
        .trim()
        .parse()
        .expect("a number");
    assert_eq!(crate::rt::sweep::start_time(pid), None);
}

#[tokio::test]
async fn an_unmarked_program_may_leave_a_server_behind() {
    let script = "sleep 300 >/dev/null 2>&1 & echo $!";
    let Captured { exit, stdout, .. } = output(sh(script)).await.expect("starts");
    assert_eq!(exit, Exit::Code(0));
    let pid: u32 = String::from_utf8_lossy(&stdout)
        .trim()
        .parse()
        .expect("a number");
    assert!(crate::rt::sweep::start_time(pid).is_some());
    let mut sweeper = crate::rt::sweep::Sweeper::unmarked(Keep::default());
    sweeper.remember(pid);
    let raw = rustix::process::Pid::from_raw(pid.cast_signed()).expect("a pid");
    rustix::process::kill_process(raw, rustix::process::Signal::KILL).expect("killed");
}

#[tokio::test]
async fn a_held_pipe_does_not_delay_the_end() {
    let begin = Instant::now();
    let (finished, _) = collect(sh("setsid sleep 300 & exit 4").with_mark(key("held"))).await;
    assert_eq!(finished.exit, Exit::Code(4));
    assert!(
        begin.elapsed() < Duration::from_secs(10),
        "{:?}",
        begin.elapsed()
    );
    let begin = Instant::now();
    let captured = output(sh("sleep 8 & echo out")).await.expect("starts");
    assert_eq!(captured.stdout, b"out\n");
    assert!(
        begin.elapsed() < Duration::from_secs(7),
        "{:?}",
        begin.elapsed()
    );
}

#[tokio::test]
async fn the_last_words_of_a_pipeline_are_not_lost() {
    let (_, lines) = collect(sh("(sleep 0.2; echo late) & exit 0").with_mark(key("late"))).await;
    assert_eq!(lines, [(Stream::Stdout, "late".to_owned())]);
}

#[tokio::test]
async fn cancelling_asks_first_and_lets_the_program_speak() {
    let folder = tempfile::tempdir().expect("a folder");
    let ready_file = folder.path().join("ready");
    let script = format!(
        "trap 'echo asked; exit 5' INT; : >{}; while :; do sleep 0.05; done",
        ready_file.display()
    );
    let stop = Stop {
        signal: StopSignal::Interrupt,
        ..Stop::default()
    };
    let mut lines = Vec::new();
    let mut on_line = |line: Line<'_>| {
        lines.push(line.text().into_owned());
        Flow::Continue
    };
    let spec = sh(&script).with_stop(stop).with_mark(key("ask"));
    let finished = run_until(spec, &mut on_line, wait_for(&ready_file))
        .await
        .expect("starts");
    assert_eq!(finished.ended, Ended::Cancelled);
    assert_eq!(finished.exit, Exit::Code(5));
    assert!(!finished.forced);
    assert_eq!(lines, ["asked"]);
}

#[tokio::test]
async fn a_program_that_ignores_the_request_is_killed_with_its_children() {
    let folder = tempfile::tempdir().expect("a folder");
    let ready_file = folder.path().join("ready");
    let key = key("deaf");
    let script = format!(
        "trap '' TERM INT; setsid sh -c 'sleep 300 & sleep 300' & : >{}; \
         while :; do sleep 0.05; done",
        ready_file.display()
    );
    let spec = sh(&script).with_stop(impatient()).with_mark(key.clone());
    let begin = Instant::now();
    let finished = run_until(spec, &mut |_| Flow::Continue, wait_for(&ready_file))
        .await
        .expect("starts");
    assert_eq!(finished.ended, Ended::Cancelled);
    assert_eq!(finished.exit, Exit::Signal(9));
    assert!(finished.forced);
    assert_eq!(carriers(&key), Vec::<String>::new());
    assert!(begin.elapsed() < STOP_BUDGET, "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_cancel_that_was_there_before_the_start_still_ends_the_program() {
    let key = key("early");
    let spec = sh("sleep 300").with_mark(key.clone());
    let finished = run_until(spec, &mut |_| Flow::Continue, ready(()))
        .await
        .expect("starts");
    assert_eq!(finished.ended, Ended::Cancelled);
    assert_eq!(carriers(&key), Vec::<String>::new());
}

#[tokio::test]
async fn dropping_the_future_ends_everything_before_it_returns() {
    let folder = tempfile::tempdir().expect("a folder");
    let ready_file = folder.path().join("ready");
    let key = key("drop");
    let script = format!(
        "trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep 300 & sleep 300' & : >{}; sleep 300",
        ready_file.display()
    );
    let mut on_line = |_: Line<'_>| Flow::Continue;
    let future = run_until(sh(&script).with_mark(key.clone()), &mut on_line, pending());
    tokio::select! {
        _ = future => panic!("it does not end by itself"),
        () = wait_for(&ready_file) => {}
    }
    assert_eq!(carriers(&key), Vec::<String>::new());
}

#[tokio::test]
async fn a_program_that_hangs_after_its_last_word_is_ended() {
    let key = key("linger");
    let spec = sh("echo final; sleep 0.1; echo more; sleep 300")
        .with_stop(impatient())
        .with_mark(key.clone());
    let mut lines = Vec::new();
    let mut on_line = |line: Line<'_>| {
        lines.push(line.text().into_owned());
        if line.bytes == b"final" {
            Flow::Terminal
        } else {
            Flow::Continue
        }
    };
    let finished = run_until(spec, &mut on_line, pending())
        .await
        .expect("starts");
    assert_eq!(finished.ended, Ended::Lingered);
    assert_eq!(lines, ["final", "more"]);
    assert_eq!(carriers(&key), Vec::<String>::new());
}

#[tokio::test]
async fn the_callback_can_stop_the_program() {
    let mut on_line = |line: Line<'_>| {
        if line.bytes == b"401" {
            Flow::Stop
        } else {
            Flow::Continue
        }
    };
    let spec = sh("echo 200; echo 401; sleep 300").with_mark(key("stop"));
    let finished = run_until(spec, &mut on_line, pending())
        .await
        .expect("starts");
    assert_eq!(finished.ended, Ended::Stopped);
    assert_eq!(finished.exit, Exit::Signal(15));
}

#[tokio::test]
async fn kept_executables_survive() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = folder.path().join("cache-server");
    let sleeper = Program::find("sleep").expect("sleep");
    std::fs::copy(sleeper.path(), &server).expect("copied");
    let key = key("keep");
    let script = format!(
        "setsid {} 20 >/dev/null 2>&1 & sleep 0.2; setsid sleep 300 &",
        server.display()
    );
    let spec = sh(&script)
        .with_mark(key.clone())
        .with_keep(Keep::new(["cache-server"]));
    let (_, _) = collect(spec).await;
    let left = carriers(&key);
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(left[0].contains("cache-server"), "{left:?}");
    let swept = crate::rt::sweep::Sweeper::new(key, Keep::new(["other"])).finish();
    assert_eq!(swept.len(), 1);
    assert_eq!(swept[0].executable.as_deref(), Some(server.as_path()));
}

#[tokio::test]
async fn a_nested_xiv_may_end_its_own_children_first() {
    let folder = tempfile::tempdir().expect("a folder");
    let nested = folder.path().join("xiv");
    std::fs::copy(Program::find("sh").expect("sh").path(), &nested).expect("copied");
    let told = folder.path().join("told");
    let ready_file = folder.path().join("ready");
    let inner_mark = "inner";
    let outer = key("outer");
    let script = format!(
        "setsid env {MARK_VARIABLE}=\"${MARK_VARIABLE}:{inner_mark}\" {} -c \
         'sleep 300 & trap \"kill $!; wait; echo told >{}; exit 0\" TERM; : >{}; \
          while :; do sleep 0.05; done' & \
         while :; do sleep 0.05; done",
        nested.display(),
        told.display(),
        ready_file.display(),
    );
    let spec = sh(&script).with_mark(outer.clone());
    let begin = Instant::now();
    let finished = run_until(spec, &mut |_| Flow::Continue, wait_for(&ready_file))
        .await
        .expect("starts");
    assert_eq!(finished.ended, Ended::Cancelled);
    assert!(told.exists(), "the nested xiv was not given its time");
    assert_eq!(carriers(&outer), Vec::<String>::new());
    assert!(begin.elapsed() < STOP_BUDGET, "{:?}", begin.elapsed());
}

#[tokio::test]
async fn a_nested_xiv_that_does_not_end_is_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let nested = folder.path().join("xiv");
    std::fs::copy(Program::find("sh").expect("sh").path(), &nested).expect("copied");
    let outer = key("stubborn");
    let script = format!(
        "setsid {} -c 'trap \"\" TERM; while :; do sleep 0.05; done' & sleep 0.3; exit 0",
        nested.display()
    );
    let begin = Instant::now();
    let (finished, _) = collect(sh(&script).with_mark(outer.clone())).await;
    assert_eq!(finished.exit, Exit::Code(0));
    assert_eq!(carriers(&outer), Vec::<String>::new());
    assert!(begin.elapsed() < STOP_BUDGET, "{:?}", begin.elapsed());
}

#[tokio::test]
async fn the_mark_is_appended_never_replaced() {
    let inner = key("inner");
    let spec = sh("echo $XIV_MARK")
        .with_env(MARK_VARIABLE, "a:b")
        .with_mark(inner.clone());
    let (_, lines) = collect(spec).await;
    assert_eq!(lines[0].1, format!("a:b:{inner}"));
}

#[tokio::test]
async fn the_transcript_holds_every_line_redacted() {
    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl std::io::Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().expect("unpoisoned").extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let sink = Shared::default();
    let transcript = Transcript::new(
        sink.clone(),
        Box::new(|line| line.replace("s3cret", "[redacted:test]")),
    );
    let (finished, lines) =
        collect(sh("echo s3cret; echo err >&2").with_transcript(transcript)).await;
    assert!(finished.transcript_error.is_none());
    assert!(lines.contains(&(Stream::Stdout, "s3cret".to_owned())));
    let text = String::from_utf8(sink.0.lock().expect("unpoisoned").clone()).expect("text");
    let mut kept: Vec<_> = text.lines().collect();
    kept.sort_unstable();
    assert_eq!(kept, ["! err", "[redacted:test]"]);
}

#[tokio::test]
async fn a_step_context_gives_mark_signal_and_events() {
    let mark = key("context");
    let events = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&events);
    let (canceller, cancel) = Cancel::new();
    let cx = StepContext::new(Arc::new(SystemClock), mark.as_str())
        .with_cancel(cancel)
        .with_events(Events::new(move |event| {
            sink.lock().expect("unpoisoned").push(event)
        }));
    let mut seen = String::new();
    let mut on_line = |line: Line<'_>| {
        seen = line.text().into_owned();
        canceller.cancel(CancelReason::User);
        Flow::Continue
    };
    let spec = sh("echo $XIV_MARK; sleep 300");
    let finished = run(spec, &mut on_line, &cx).await.expect("starts");
    assert_eq!(finished.ended, Ended::Cancelled);
    assert!(seen.ends_with(mark.as_str()), "{seen}");
    let events = events.lock().expect("unpoisoned");
    let [
        StepEvent::Started {
            pid,
            start_time: Some(_),
            ..
        },
    ] = events.as_slice()
    else {
        panic!("{events:?}");
    };
    assert_eq!(*pid, finished.pid);
    assert_eq!(carriers(&mark), Vec::<String>::new());
}

#[test]
fn helpers_see_no_inherited_repository() {
    let env = Environment::empty()
        .with("GIT_DIR", "/elsewhere")
        .with("GIT_INDEX_FILE", "/elsewhere/index")
        .with("GIT_CONFIG_COUNT", "1")
        .with("GIT_CONFIG_KEY_0", "safe.directory")
        .with("GIT_CONFIG_VALUE_0", "*")
        .with("GIT_CONFIG_PARAMETERS", "'a.b=c'")
        .with("GIT_AUTHOR_NAME", "A")
        .with("GITHUB_ACTIONS", "true")
        .with("PATH", "/bin")
        .without_git();
    let names: Vec<_> = env.iter().map(|(name, _)| name.to_owned()).collect();
    assert_eq!(
        names,
        [
            "GITHUB_ACTIONS",
            "GIT_AUTHOR_NAME",
            "GIT_CONFIG_COUNT",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_VALUE_0",
            "PATH",
        ]
    );
    assert!(!format!("{env:?}").contains("/bin"), "values are not shown");
}

#[test]
fn programs_are_found_past_links_to_this_executable() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = std::env::current_exe().expect("an executable");
    std::os::unix::fs::symlink(&own, folder.path().join("sh")).expect("linked");
    let path = format!("{}:/usr/bin:/bin", folder.path().display());
    let found = Program::find_on("sh", path.as_ref(), Path::new("/")).expect("found");
    assert!(!found.path().starts_with(folder.path()), "{found:?}");
    let missing = Program::find_on("sh", folder.path().as_os_str(), Path::new("/"));
    assert_eq!(
        missing.expect_err("only the link").to_string(),
        "program `sh` not found"
    );
}
