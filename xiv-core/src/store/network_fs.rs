//! Refusing network file systems: locks and shared memory do not hold there,
//! and a journal that two hosts write at once is soon a damaged one.
//!
//! Checked on Linux. Elsewhere the documentation has to do.

use std::path::Path;

use super::error::Fault;

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "the check exists on Linux only")]
pub(super) fn refuse(_dir: &Path) -> Result<(), Fault> {
    Ok(())
}

/// Refuses when the folder, or where it is going to be, lies on one.
#[cfg(target_os = "linux")]
pub(super) fn refuse(dir: &Path) -> Result<(), Fault> {
    use crate::port::{JournalError, JournalErrorKind};

    let Some((place, facts)) = dir
        .ancestors()
        .find_map(|place| Some((place, rustix::fs::statfs(place).ok()?)))
    else {
        return Ok(()); // a relative path below a folder that is not there
    };
    // the width of the field differs between architectures
    let magic = facts.f_type as u32;
    let Some(name) = linux::network_name(magic, || linux::mount_type(place)) else {
        return Ok(());
    };
    let message = format!("{} lies on a network file system ({name})", dir.display());
    let error = JournalError::new(JournalErrorKind::NetworkFs, message)
        .with_hint("set XIV_HOME to a folder on a local disk");
    Err(error.into())
}

#[cfg(target_os = "linux")]
mod linux {
    //! How Linux names its file systems.
    #![expect(
        clippy::disallowed_methods,
        reason = "the store is where the journal touches the disk"
    )]

    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::Path;

    const FUSE: u32 = 0x6573_5546;

    const NETWORK: [(u32, &str); 12] = [
        (0x6969, "nfs"),
        (0x517b, "smb"),
        (0xff53_4d42, "cifs"),
        (0xfe53_4d42, "smb2"),
        (0x564c, "ncp"),
        (0x5346_414f, "afs"),
        (0x6b41_4653, "kafs"),
        (0x7375_7245, "coda"),
        (0x0102_1997, "9p"),
        (0x00c3_6400, "ceph"),
        (0x0bd0_0bd0, "lustre"),
        (0x4750_4653, "gpfs"),
    ];

    /// Types of FUSE that reach another host. Others are local: encryption,
    /// overlays, foreign disk formats, the host's disk in a virtual machine.
    const NETWORK_FUSE: [&str; 12] = [
        "fuse.sshfs",
        "fuse.rclone",
        "fuse.s3fs",
        "fuse.gcsfuse",
        "fuse.goofys",
        "fuse.mount-s3",
        "fuse.glusterfs",
        "fuse.ceph",
        "fuse.juicefs",
        "fuse.curlftpfs",
        "fuse.davfs",
        "fuse.afpfs",
    ];

    /// The name of a network file system; `None` for a local one.
    pub(super) fn network_name(
        magic: u32,
        mount_type: impl FnOnce() -> Option<String>,
    ) -> Option<String> {
        if magic == FUSE {
            return mount_type().filter(|name| NETWORK_FUSE.contains(&name.as_str()));
        }
        NETWORK
            .iter()
            .find(|(network, _)| *network == magic)
            .map(|(_, name)| (*name).to_owned())
    }

    /// The type under which the folder's file system is mounted.
    pub(super) fn mount_type(dir: &Path) -> Option<String> {
        let device = fs::metadata(dir).ok()?.dev();
        let id = format!(
            "{}:{}",
            rustix::fs::major(device),
            rustix::fs::minor(device)
        );
        let mounts = fs::read_to_string("/proc/self/mountinfo").ok()?;
        type_of_device(&mounts, &id)
    }

    /// Reads `id parent major:minor root point options… - type source super`.
    pub(super) fn type_of_device(mounts: &str, device: &str) -> Option<String> {
        mounts.lines().find_map(|line| {
            let (before, after) = line.split_once(" - ")?;
            let found = before.split(' ').nth(2)? == device;
            found.then(|| after.split(' ').next().unwrap_or_default().to_owned())
        })
    }
}
