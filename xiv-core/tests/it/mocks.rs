//! Mocks can stand in for every port, behind the pointers that the driver
//! takes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use xiv_core::port::{
    Agent, AgentErrorKind, AgentReply, AgentRequest, AgentRole, Clock, Forge, Human, IssueSource,
    Journal, Observer, Processes, RunFiles, SystemRules, Validator, Vcs,
};
use xiv_core::test_support::{ManualClock, context, mocks};

#[test]
fn every_port_has_a_mock() {
    fn port<T: ?Sized>(_: &T) {}
    port::<dyn Agent>(&mocks::MockAgent::new());
    port::<dyn Clock>(&mocks::MockClock::new());
    port::<dyn Forge>(&mocks::MockForge::new());
    port::<dyn Human>(&mocks::MockHuman::new());
    port::<dyn IssueSource>(&mocks::MockIssueSource::new());
    port::<dyn Journal>(&mocks::MockJournal::new());
    port::<dyn Observer>(&mocks::MockObserver::new());
    port::<dyn Processes>(&mocks::MockProcesses::new());
    port::<dyn RunFiles>(&mocks::MockRunFiles::new());
    port::<dyn Validator>(&mocks::MockValidator::new());
    port::<dyn Vcs>(&mocks::MockVcs::new());
}

#[test]
fn a_mock_answers_as_expected() {
    let mut agent = mocks::MockAgent::new();
    agent
        .expect_run()
        .withf(|request, _| request.role == AgentRole::Plan)
        .times(1)
        .returning(|_, _| Ok(AgentReply::default()));
    let agent: Arc<dyn Agent> = Arc::new(agent);
    let request = AgentRequest::new(AgentRole::Plan, "plan", SystemRules::new(), "/repo");
    let reply = block_on(agent.run(request, context(&ManualClock::new())));
    assert_eq!(
        reply.map_err(|e| e.kind),
        Ok::<_, AgentErrorKind>(AgentReply::default())
    );

    let mut vcs = mocks::MockVcs::new();
    vcs.expect_root().return_const(PathBuf::from("/repo"));
    assert_eq!(vcs.root(), Path::new("/repo"));

    let mut clock = mocks::MockClock::new();
    clock.expect_sleep().times(1).return_const(());
    block_on(clock.sleep(Duration::from_secs(1)));
}
