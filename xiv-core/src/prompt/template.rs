//! `{{name}}` placeholders, replaced in a single pass.

/// A template that cannot be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// The template names a value that there is not.
    #[error("the template names {{{{{name}}}}}, which there is no value for")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// A `{{` is not closed.
    #[error("a placeholder is not closed")]
    Unclosed,
}

/// Replaces every `{{name}}` by its value. Values are copied as they are.
///
/// # Errors
/// [`TemplateError`] for a name without a value and for an open placeholder.
pub fn fill(template: &str, values: &[(&str, &str)]) -> Result<String, TemplateError> {
    let mut filled = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        filled.push_str(before);
        let (name, after) = after.split_once("}}").ok_or(TemplateError::Unclosed)?;
        let name = name.trim();
        let value = values.iter().find(|(known, _)| *known == name);
        let (_, value) = value.ok_or_else(|| TemplateError::UnknownName {
            name: name.to_owned(),
        })?;
        filled.push_str(value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::{TemplateError, fill};

    #[test]
    fn values_are_not_scanned_again() {
        let filled = fill("a {{x}} b {{ y }}", &[("x", "{{y}}"), ("y", "{{x}}")]);
        assert_eq!(filled.as_deref(), Ok("a {{y}} b {{x}}"));
    }

    #[test]
    fn mistakes_are_errors() {
        assert_eq!(
            fill("{{z}}", &[("x", "")]),
            Err(TemplateError::UnknownName {
                name: "z".to_owned()
            })
        );
        assert_eq!(fill("{{x", &[("x", "")]), Err(TemplateError::Unclosed));
    }
}
