//! What can be wrong with a network before it is built.
use super::NetworkBuilder;
use crate::core::ids::LinkIndex;
use crate::flows::FlowConfig;
use crate::simulation::{Handoff, NetworkEvent};
use std::collections::BTreeSet;
use std::fmt;
use std::io;

/// Why a network cannot be built.
#[derive(Debug)]
pub enum BuildError {
    /// Two nodes, links or flows have this name.
    DuplicateName {
        /// "node", "link" or "flow".
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A flow's ends are not connected.
    NoRoute {
        /// The flow.
        flow: String,
        /// The node where its packets start.
        from: String,
        /// The node that they cannot reach.
        to: String,
    },
    /// A flow that makes no sense.
    BadFlow {
        /// The flow.
        flow: String,
        /// What is wrong.
        problem: &'static str,
    },
    /// A node is used as something it is not.
    WrongKind {
        /// The node.
        node: String,
        /// What was expected: "a member", "a proxy", ...
        expected: &'static str,
    },
    /// A host is handed over to a link that does not end at it.
    NotAttached {
        /// The host.
        host: String,
        /// The link.
        link: String,
    },
    /// The capture could not be started.
    Capture(io::Error),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateName { kind, name } => write!(f, "two {kind}s are called \"{name}\""),
            Self::NoRoute { flow, from, to } => {
                write!(f, "flow \"{flow}\": no route from \"{from}\" to \"{to}\"")
            }
            Self::BadFlow { flow, problem } => write!(f, "flow \"{flow}\": {problem}"),
            Self::WrongKind { node, expected } => write!(f, "node \"{node}\" is not {expected}"),
            Self::NotAttached { host, link } => {
                write!(f, "\"{host}\" cannot be handed over to link \"{link}\", which does not end there")
            }
            Self::Capture(error) => write!(f, "cannot write the capture: {error}"),
        }
    }
}

impl std::error::Error for BuildError {}

/// What can be said of a plan before anything is built.
pub(super) fn check(builder: &NetworkBuilder) -> Result<(), BuildError> {
    unique("node", builder.nodes.iter().map(|node| &node.name))?;
    unique("link", builder.links.iter().map(|link| &link.name))?;
    unique("flow", builder.flows.iter().map(|plan| &plan.name))?;
    builder.check_handoffs()?;
    for plan in &builder.flows {
        builder.check_flow(&plan.name, &plan.config)?;
    }
    Ok(())
}

fn unique<'a>(kind: &'static str, names: impl Iterator<Item = &'a String>) -> Result<(), BuildError> {
    let mut seen = BTreeSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(BuildError::DuplicateName { kind, name: name.clone() });
        }
    }
    Ok(())
}

impl NetworkBuilder {
    /// A handoff needs a host, and a link that ends there.
    fn check_handoffs(&self) -> Result<(), BuildError> {
        for (_, event) in &self.events {
            let NetworkEvent::Handoff(Handoff { host, link, .. }) = event else { continue };
            let node = &self.nodes[host.index()];
            if node.forwards {
                return Err(BuildError::WrongKind { node: node.name.clone(), expected: "a host" });
            }
            let link = link.map(|link| &self.links[link.index()]);
            if let Some(link) = link.filter(|link| !link.ends.contains(host)) {
                let (host, link) = (node.name.clone(), link.name.clone());
                return Err(BuildError::NotAttached { host, link });
            }
        }
        Ok(())
    }

    fn check_flow(&self, name: &str, flow: &FlowConfig) -> Result<(), BuildError> {
        let transport = flow.transport.get();
        let detached = |link: &LinkIndex| {
            let ends = self.links[link.index()].ends;
            !ends.contains(&flow.from) && !ends.contains(&flow.to)
        };
        let problem = if flow.from == flow.to {
            "it starts where it ends"
        } else if flow.stop.is_some_and(|stop| stop < flow.start) {
            "it stops before it starts"
        } else if let Some(problem) = transport.problem() {
            problem
        } else if flow.links.iter().any(detached) {
            "its links must end where it starts or where it ends"
        } else if transport.max_links() == 1 && flow.links.len() > 1 {
            "it has one pipe but several links"
        } else if self.access_links(flow).len() > transport.max_links() {
            "it has more than eight links"
        } else {
            return Ok(());
        };
        Err(BuildError::BadFlow { flow: name.into(), problem })
    }
}
