//! Names of content: its hash. The same in every journal.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::port::BlobId;

/// The name under which content is stored.
pub(crate) fn blob_id(content: &[u8]) -> BlobId {
    let mut hex = String::with_capacity(64);
    for byte in Sha256::digest(content) {
        // writing to a string cannot fail
        let _infallible = write!(hex, "{byte:02x}");
    }
    BlobId::parse(hex).expect("a digest has 64 hexadecimal digits")
}
