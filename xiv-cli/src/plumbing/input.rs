//! Reading what a rule is asked about.

use std::io::Read;

use serde::de::DeserializeOwned;

use crate::error::CliError;

/// The whole input.
pub(super) fn bytes(stdin: &mut dyn Read) -> Result<Vec<u8>, CliError> {
    let mut bytes = Vec::new();
    stdin
        .read_to_end(&mut bytes)
        .map_err(|error| CliError::io("standard input cannot be read", &error))?;
    Ok(bytes)
}

/// The whole input as text; what is not UTF-8 is shown as U+FFFD.
pub(super) fn text(stdin: &mut dyn Read) -> Result<String, CliError> {
    Ok(String::from_utf8_lossy(&bytes(stdin)?).into_owned())
}

/// The whole input as one JSON document.
pub(super) fn json<T: DeserializeOwned>(stdin: &mut dyn Read) -> Result<T, CliError> {
    serde_json::from_slice(&bytes(stdin)?).map_err(|error| bad(error.to_string()))
}

/// The input is not of the documented form.
pub(super) fn bad(reason: impl Into<String>) -> CliError {
    CliError::usage("the input is not of the documented form").with_cause(reason)
}
