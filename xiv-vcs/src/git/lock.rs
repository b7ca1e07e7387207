//! The advisory lock around everything that moves refs.
//!
//! It lives in what all work trees share, so that two runs in two work trees of
//! one repository exclude each other. The system frees it when its holder dies.

use std::fs::{File, OpenOptions, TryLockError, create_dir_all};
use std::future::Future;
use std::io::{Read as _, Seek as _, Write as _};
use std::path::Path;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use xiv_core::port::{VcsError, VcsErrorKind};

use super::failure;

/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(50);

/// The held lock; free again when dropped.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
}

/// Takes `<common-dir>/xiv/lock`, waiting at most `wait`.
pub(super) async fn acquire(common_dir: &Path, wait: Duration) -> Result<Lock, VcsError> {
    let folder = common_dir.join("xiv");
    create_dir_all(&folder).map_err(|cause| failure::io("create", &folder, cause))?;
    let path = folder.join("lock");
    let mut file = OpenOptions::new()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(&path)
        .map_err(|cause| failure::io("open", &path, cause))?;
    let deadline = Instant::now() + wait;
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => sleep(PAUSE).await,
            Err(TryLockError::WouldBlock) => return Err(held(&mut file)),
            Err(TryLockError::Error(cause)) => return Err(failure::io("lock", &path, cause)),
        }
    }
    sign(&mut file).map_err(|cause| failure::io("write", &path, cause))?;
    Ok(Lock { _file: file })
}

/// Writes who holds it.
fn sign(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn held(file: &mut File) -> VcsError {
    let mut holder = String::new();
    let known = file.read_to_string(&mut holder).is_ok() && !holder.trim().is_empty();
    failure::locked(if known {
        format!("process {} is changing this repository", holder.trim())
    } else {
        "another xiv is changing this repository".to_owned()
    })
}

/// Repeats `work` while git finds a lock of its own held, for at most `wait`.
/// A foreign lock file is never removed.
pub(super) async fn patiently<T, F: Future<Output = Result<T, VcsError>>>(
    wait: Duration,
    mut work: impl FnMut() -> F,
) -> Result<T, VcsError> {
    let deadline = Instant::now() + wait;
    loop {
        match work().await {
            Err(error) if error.kind == VcsErrorKind::Locked && Instant::now() < deadline => {
                sleep(PAUSE).await;
            }
            done => return done,
        }
    }
}
