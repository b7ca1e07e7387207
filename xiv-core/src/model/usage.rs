//! What agents cost: tokens, money where it is known, wall time, calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Use of agents, for one step or summed up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// Agent calls.
    pub calls: u64,
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// The part of the input that came from a cache.
    pub cached_input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// US dollars; null when no engine said and no price is known.
    pub cost_usd: Option<f64>,
    /// False when some call's cost is not in `costUsd`.
    pub cost_complete: bool,
    /// Wall time of the calls in milliseconds.
    pub wall_ms: u64,
}

impl Default for Usage {
    /// Nothing used, and that completely known.
    fn default() -> Self {
        Self {
            calls: 0,
            input_tokens: 0,
            cached_input_tokens: 0,
            output_tokens: 0,
            cost_usd: None,
            cost_complete: true,
            wall_ms: 0,
        }
    }
}

impl Usage {
    /// Adds another use to this one.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.cached_input_tokens += other.cached_input_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        };
        self.cost_complete &= other.cost_complete;
        self.wall_ms += other.wall_ms;
    }

    /// Input and output tokens together.
    #[must_use]
    pub const fn tokens(&self) -> u64 {
        self.input_tokens + self.output_tokens
    }
}
