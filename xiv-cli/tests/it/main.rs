//! Tests of the binary as a whole: what it prints, how it exits, what it
//! leaves on disk.

mod bad_input;
mod config;
mod demo;
mod environment;
mod guard;
mod implement;
mod interrupt;
mod kill;
mod output;
mod plumbing;
mod real_agents;
mod reviewers;
mod runs;
mod schemas;
