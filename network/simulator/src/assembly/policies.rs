//! Policies from outside the crates, and whether a plan has something for them to do.
use super::capability::bypassed_proxies;
use crate::core::policy_role::PolicyRole;
use crate::flows::policy::{
    CongestionFactory, PipeSchedulerFactory, RequestSchedulerFactory, SubflowSchedulerFactory,
};
use crate::flows::registry::planned;
use crate::flows::transport::AnyTransport;
use crate::nodes::prism::policy::SchedulerFactory;
use prismux_plan::{Flow, Plan, Unsupported};
use std::collections::BTreeMap;

/// Policies from outside the crates, each in place of those that a plan names.
#[derive(Debug, Clone, Default)]
pub struct Policies {
    /// Scheduler of every proxy.
    pub scheduler: Option<SchedulerFactory>,
    /// Congestion control of every sender of TCP.
    pub congestion: Option<CongestionFactory>,
    /// Congestion controls of single senders of TCP, by the names of their flows, or of the groups of these; before
    /// `congestion`.
    pub congestion_of: BTreeMap<String, CongestionFactory>,
    /// Scheduler of every MPTCP sender.
    pub subflow_scheduler: Option<SubflowSchedulerFactory>,
    /// Scheduler of every pTCP sender.
    pub pipe_scheduler: Option<PipeSchedulerFactory>,
    /// Scheduler of every R²CP receiver.
    pub request_scheduler: Option<RequestSchedulerFactory>,
}

impl Policies {
    /// What they decide.
    pub fn roles(&self) -> Vec<PolicyRole> {
        let mut roles = Vec::new();
        roles.extend(self.scheduler.is_some().then_some(PolicyRole::Scheduler));
        roles.extend(self.congestion.is_some().then_some(PolicyRole::Congestion));
        roles.extend(self.congestion_of.keys().cloned().map(PolicyRole::CongestionOf));
        roles.extend(self.subflow_scheduler.is_some().then_some(PolicyRole::SubflowScheduler));
        roles.extend(self.pipe_scheduler.is_some().then_some(PolicyRole::PipeScheduler));
        roles.extend(self.request_scheduler.is_some().then_some(PolicyRole::RequestScheduler));
        roles
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.roles().is_empty()
    }

    /// Those whose roles `keep` keeps.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&PolicyRole) -> bool) -> Self {
        let mut kept = self.clone();
        kept.scheduler = kept.scheduler.filter(|_| keep(&PolicyRole::Scheduler));
        kept.congestion = kept.congestion.filter(|_| keep(&PolicyRole::Congestion));
        kept.congestion_of.retain(|flow, _| keep(&PolicyRole::CongestionOf(flow.clone())));
        kept.subflow_scheduler = kept.subflow_scheduler.filter(|_| keep(&PolicyRole::SubflowScheduler));
        kept.pipe_scheduler = kept.pipe_scheduler.filter(|_| keep(&PolicyRole::PipeScheduler));
        kept.request_scheduler = kept.request_scheduler.filter(|_| keep(&PolicyRole::RequestScheduler));
        kept
    }

    /// The congestion control for the sender of `flow`.
    pub(crate) fn congestion_for(&self, flow: &Flow) -> Option<&CongestionFactory> {
        let own = self.congestion_of.get(&flow.name).or_else(|| self.congestion_of.get(&flow.group));
        own.or(self.congestion.as_ref())
    }
}

/// Refuses a policy from outside that would have nothing to do in `plan`.
///
/// # Errors
/// With what the plan lacks, and a way out.
pub fn check_policy(plan: &Plan, role: &PolicyRole) -> Result<(), Unsupported> {
    let transports: Vec<AnyTransport> = plan.flows.iter().map(planned).collect();
    check_role(plan, &transports, role)
}

/// Refuses policies from outside that would have nothing to do, with `transports` in place of those that `plan` names.
///
/// # Errors
/// For the first of them.
pub(super) fn check_policies(
    plan: &Plan,
    policies: &Policies,
    transports: &[AnyTransport],
) -> Result<(), Unsupported> {
    policies.roles().iter().try_for_each(|role| check_role(plan, transports, role))
}

fn check_role(plan: &Plan, transports: &[AnyTransport], role: &PolicyRole) -> Result<(), Unsupported> {
    let taking = || plan.flows.iter().zip(transports).filter(|(_, flow)| flow.get().takes(role));
    let has_use = match role {
        PolicyRole::Scheduler => {
            let bypassed = bypassed_proxies(plan).unwrap_or_default();
            plan.proxies().iter().any(|proxy| !bypassed.contains(proxy))
        }
        PolicyRole::CongestionOf(name) => taking().any(|(flow, _)| [&flow.name, &flow.group].contains(&name)),
        PolicyRole::Congestion
        | PolicyRole::SubflowScheduler
        | PolicyRole::PipeScheduler
        | PolicyRole::RequestScheduler => taking().next().is_some(),
    };
    if has_use {
        return Ok(());
    }
    const OVER_TCP: &str = "use transport \"tcp\", \"tcp-prism\", \"tcp-ho\", \"tcp-door\" or \"tcp-eln\"";
    let refused = |what: &str, remedy: &str| Err(Unsupported { what: what.into(), remedy: remedy.into() });
    match role {
        PolicyRole::Scheduler => refused(
            "a scheduler from outside has no proxy to serve",
            "give the scenario a node of kind \"prism-proxy\"",
        ),
        PolicyRole::Congestion => {
            refused("a congestion control from outside has no flow to control: none runs over TCP", OVER_TCP)
        }
        PolicyRole::CongestionOf(name) => {
            let known: Vec<&str> = taking().map(|(flow, _)| flow.name.as_str()).collect();
            Err(Unsupported {
                what: format!(
                    "a congestion control from outside is for \"{name}\", which is no flow over TCP"
                ),
                remedy: format!("flows over TCP: {}; {OVER_TCP}", known.join(", ")),
            })
        }
        PolicyRole::SubflowScheduler => refused(
            "a scheduler of subflows from outside has no flow: none runs over MPTCP",
            "use transport \"mptcp\"",
        ),
        PolicyRole::PipeScheduler => refused(
            "a scheduler of pipes from outside has no flow: none runs over pTCP",
            "use transport \"ptcp\"",
        ),
        PolicyRole::RequestScheduler => refused(
            "a scheduler of requests from outside has no flow: none runs over R²CP",
            "use transport \"r2cp\"",
        ),
    }
}
