//! Refusing network file systems: locks and shared memory do not hold there,
//! and a journal that two hosts write at once is soon a damaged one.
//!
//! Checked on Linux. Elsewhere the documentation has to do.

use std::path::Path;

use super::error::Fault;

#[cfg(not(target_os = "linux"))]
/// Refuses nothing: there is no check for this system.
pub(super) fn refuse(_dir: &Path) -> Result<(), Fault> {
    Ok(())
}

/// Refuses when the folder, or where it is going to be, lies on one.
#[cfg(target_os = "linux")]
pub(super) fn refuse(dir: &Path) -> Result<(), Fault> {
    use super::open::here;
    use crate::port::{JournalError, JournalErrorKind};

    let Some((place, facts)) = dir
        .ancestors()
        .map(here)
        .find_map(|place| Some((place, rustix::fs::statfs(place).ok()?)))
    else {
        return Ok(()); // nothing is there; what follows says so
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::Path;

    use super::linux::{mount_type, network_name, type_of_device};
    use super::refuse;

    const MOUNTS: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:26 / /home/me/far rw,nosuid shared:5 master:2 - fuse.sshfs me@host:/ rw,user_id=0
31 22 0:27 / /home/me/vault rw - fuse.gocryptfs /home/me/.vault rw
";

    #[test]
    fn network_file_systems_are_known_by_their_numbers() {
        let no_mount = || panic!("only FUSE has to be looked up");
        for (magic, name) in [
            (0x6969, "nfs"),
            (0xff53_4d42, "cifs"),
            (0xfe53_4d42, "smb2"),
            (0x0102_1997, "9p"),
        ] {
            assert_eq!(network_name(magic, no_mount).as_deref(), Some(name));
        }
        // ext, btrfs, xfs, tmpfs, overlay, zfs
        for local in [
            0xef53,
            0x9123_683e,
            0x5846_5342,
            0x0102_1994,
            0x794c_7630,
            0x2fc1_2fc1,
        ] {
            assert_eq!(network_name(local, no_mount), None);
        }
    }

    #[test]
    fn fuse_is_judged_by_what_is_mounted() {
        const FUSE: u32 = 0x6573_5546;
        let mounted = |device| move || type_of_device(MOUNTS, device);
        let far = network_name(FUSE, mounted("0:26"));
        assert_eq!(far.as_deref(), Some("fuse.sshfs"));
        assert_eq!(network_name(FUSE, mounted("0:27")), None);
        assert_eq!(network_name(FUSE, mounted("0:99")), None);
    }

    #[test]
    fn a_local_folder_need_not_exist() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        refuse(&dir.path().join("not/yet/there")).expect("local");
        refuse(Path::new("not/yet/there")).expect("local");
        assert!(mount_type(dir.path()).is_some());
    }
}
