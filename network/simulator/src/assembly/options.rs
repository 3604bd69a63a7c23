//! How a plan is simulated, apart from what it says.
use super::policies::Policies;
use crate::flows::transport::AnyTransport;
use crate::media::medium::Medium;
use crate::nodes::node::Node;
use prismux_plan::{Flow, FlowId, Plan};
use prismux_trace::event::EventSink;
use std::collections::BTreeMap;
use std::io::Write;

/// How a plan is simulated, apart from what it says: who watches, and parts from outside the crate.
#[derive(Default)]
pub struct SimulationOptions {
    /// Checkers on or off; without a word they are on in debug builds.
    pub checks: Option<bool>,
    /// Where a capture of all links goes, in pcapng; should be buffered.
    pub capture: Option<Box<dyn Write + Send>>,
    /// Who is told of every event.
    pub events: Option<Box<dyn EventSink + Send>>,
    /// Policies from outside, in place of those that the plan names.
    pub policies: Policies,
    /// Transports from outside, by the names of the flows that they carry in place of those that the plan names.
    pub transports: BTreeMap<String, AnyTransport>,
    /// Rules of nodes from outside, by the names of the nodes that they forward for.
    pub nodes: BTreeMap<String, Box<dyn Node>>,
    /// Media from outside, by their names in the plan.
    pub media: BTreeMap<String, Box<dyn Medium>>,
}

impl SimulationOptions {
    /// With the checkers on.
    pub fn checked() -> Self {
        Self { checks: Some(true), ..Self::default() }
    }

    /// Adds `flow` to `plan`, carried by `transport` in place of the one that it names.
    pub fn carry(&mut self, plan: &mut Plan, flow: Flow, transport: impl Into<AnyTransport>) -> FlowId {
        self.transports.insert(flow.name.clone(), transport.into());
        plan.flow(flow)
    }

    /// Gives the node called `name` a rule of its own. It sees every packet that comes to it.
    pub fn forward_by(&mut self, name: &str, rule: impl Node) {
        self.nodes.insert(name.into(), Box::new(rule));
    }
}
