//! Which engine, model and effort each step uses: the one table, and how settings override it.
//!
//! Planning fixes the order of everything later and a false approval ends the loop, so these two get the
//! strong models; a review's effort is high in every tier. Names of models and efforts are passed through
//! and never checked here.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use xiv_core::port::{AgentRole, Effort};

/// How much to spend on agents. Default: cheap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_enums, reason = "the table has a column for each")]
pub enum Tier {
    /// Good enough for everyday issues.
    #[default]
    Cheap,
    /// The strongest models.
    Quality,
}

/// A tier word that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown tier `{0}`: it is `cheap` or `quality`")]
pub struct UnknownTier(pub String);

impl FromStr for Tier {
    type Err = UnknownTier;

    fn from_str(word: &str) -> Result<Self, UnknownTier> {
        match word {
            "cheap" => Ok(Self::Cheap),
            "quality" => Ok(Self::Quality),
            _ => Err(UnknownTier(word.to_owned())),
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cheap => "cheap",
            Self::Quality => "quality",
        })
    }
}

/// An agent adapter, as settings name it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "whoever builds agents must know each adapter"
)]
pub enum Engine {
    /// OpenAI's Codex.
    Codex,
    /// Anthropic's Claude Code.
    Claude,
    /// Any program, by its name under `[agents]`: `command:NAME`.
    Command(String),
    /// A script file: `scripted:FILE`.
    Scripted(PathBuf),
}

/// An engine word that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown engine `{0}`: it is `codex`, `claude`, `command:NAME` or `scripted:FILE`")]
pub struct UnknownEngine(pub String);

impl FromStr for Engine {
    type Err = UnknownEngine;

    fn from_str(word: &str) -> Result<Self, UnknownEngine> {
        match (word, word.split_once(':')) {
            ("codex", _) => Ok(Self::Codex),
            ("claude", _) => Ok(Self::Claude),
            (_, Some(("command", name))) if !name.is_empty() => Ok(Self::Command(name.to_owned())),
            (_, Some(("scripted", file))) if !file.is_empty() => Ok(Self::Scripted(file.into())),
            _ => Err(UnknownEngine(word.to_owned())),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Codex => f.write_str("codex"),
            Self::Claude => f.write_str("claude"),
            Self::Command(name) => write!(f, "command:{name}"),
            Self::Scripted(file) => write!(f, "scripted:{}", file.display()),
        }
    }
}

/// The agent of one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepAgent {
    /// The adapter.
    pub engine: Engine,
    /// The model's name; none means the engine's own default.
    pub model: Option<String>,
    /// The effort; none means the engine's own default.
    pub effort: Option<Effort>,
}

/// Settings of one step that override the table, each on its own.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Overrides {
    /// Another engine. It takes neither the table's model nor its effort along.
    pub engine: Option<Engine>,
    /// Another model.
    pub model: Option<String>,
    /// Another effort.
    pub effort: Option<Effort>,
}

/// The agent of a step: the table's, with the overrides.
#[must_use]
pub fn agent_for(tier: Tier, role: AgentRole, overrides: Overrides) -> StepAgent {
    let (engine, model, effort) = table(tier, role);
    let own = overrides
        .engine
        .as_ref()
        .is_none_or(|other| *other == engine);
    StepAgent {
        engine: overrides.engine.unwrap_or(engine),
        model: overrides.model.or_else(|| own.then(|| model.to_owned())),
        effort: overrides
            .effort
            .or_else(|| own.then(|| Effort(effort.to_owned()))),
    }
}

const fn table(tier: Tier, role: AgentRole) -> (Engine, &'static str, &'static str) {
    use AgentRole::{Describe, Fix, Implement, Plan, Review};
    use Tier::{Cheap, Quality};
    match (role, tier) {
        (Plan, Cheap) => (Engine::Codex, "gpt-5.6-sol", "low"),
        (Plan, Quality) => (Engine::Codex, "gpt-5.6-sol", "xhigh"),
        (Implement | Fix, Cheap) => (Engine::Claude, "claude-sonnet-5", "medium"),
        (Implement | Fix, Quality) => (Engine::Claude, "claude-opus-5", "xhigh"),
        (Review, Cheap) => (Engine::Codex, "gpt-5.6-terra", "high"),
        (Review, Quality) => (Engine::Codex, "gpt-5.6-sol", "high"),
        (Describe, Cheap | Quality) => (Engine::Claude, "claude-sonnet-5", "low"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_has_an_agent_in_both_tiers() {
        let mut lines = String::new();
        for role in AgentRole::ALL {
            for tier in [Tier::Cheap, Tier::Quality] {
                let agent = agent_for(tier, role, Overrides::default());
                let (model, effort) = (
                    agent.model.expect("a model"),
                    agent.effort.expect("an effort").0,
                );
                lines += &format!("{role} {tier}: {} {model} {effort}\n", agent.engine);
            }
        }
        insta::assert_snapshot!(lines, @r"
        plan cheap: codex gpt-5.6-sol low
        plan quality: codex gpt-5.6-sol xhigh
        implement cheap: claude claude-sonnet-5 medium
        implement quality: claude claude-opus-5 xhigh
        review cheap: codex gpt-5.6-terra high
        review quality: codex gpt-5.6-sol high
        fix cheap: claude claude-sonnet-5 medium
        fix quality: claude claude-opus-5 xhigh
        describe cheap: claude claude-sonnet-5 low
        describe quality: claude claude-sonnet-5 low
        ");
    }

    #[test]
    fn another_engine_does_not_inherit_a_model_that_it_cannot_know() {
        let overrides = Overrides {
            engine: Some(Engine::Claude),
            ..Overrides::default()
        };
        let agent = agent_for(Tier::Cheap, AgentRole::Review, overrides);
        assert_eq!(
            agent,
            StepAgent {
                engine: Engine::Claude,
                model: None,
                effort: None
            }
        );
        let same = Overrides {
            engine: Some(Engine::Codex),
            effort: Some(Effort("max".into())),
            model: None,
        };
        let agent = agent_for(Tier::Cheap, AgentRole::Review, same);
        assert_eq!(
            (agent.model.as_deref(), agent.effort),
            (Some("gpt-5.6-terra"), Some(Effort("max".into())))
        );
    }

    #[test]
    fn engine_and_tier_words_parse_and_print() {
        for word in ["codex", "claude", "command:mine", "scripted:dir/a:b.toml"] {
            assert_eq!(word.parse::<Engine>().expect(word).to_string(), word);
        }
        for word in [
            "",
            "pi",
            "command",
            "command:",
            "scripted:",
            "Codex",
            "codex:x",
        ] {
            assert_eq!(word.parse::<Engine>(), Err(UnknownEngine(word.to_owned())));
        }
        assert_eq!("quality".parse(), Ok(Tier::Quality));
        assert_eq!("best".parse::<Tier>(), Err(UnknownTier("best".into())));
    }
}
