//! The canonical form of a scenario: equal experiments have equal text, and so equal hashes.
//!
//! One `path = value` line per setting, defaults included, in the order of the file; the name, the summary and
//! comments are left out, since they do not change what happens.

use crate::model::{Action, Direction, Role, Scenario, Traffic};
use crate::registry::{self, Transport, name_of};
use sha2::{Digest, Sha256};
use std::fmt::{Debug, Write};

/// The canonical form.
pub fn canonical(scenario: &Scenario) -> String {
    let mut out = Lines(String::new());
    out.line("duration", scenario.duration);
    for (index, node) in scenario.nodes.iter().enumerate() {
        let path = format!("nodes.{}", node.name);
        out.line(&format!("{path}.kind"), name_of(registry::NODE_KINDS, &node.kind()));
        match &node.role {
            Role::Host | Role::Router => {}
            Role::Member(member) => out.line(&format!("{path}.present"), member.present),
            Role::PrismProxy(proxy) => {
                out.debug(&format!("{path}.config"), &proxy.config);
                out.line(&format!("{path}.tunnel"), name_of(registry::TUNNELS, &proxy.tunnel));
                let members = scenario.members_of(index);
                let names: Vec<&str> =
                    members.iter().map(|&node| scenario.nodes[node].name.as_str()).collect();
                out.debug(&format!("{path}.members"), &names);
            }
        }
    }
    for link in &scenario.links {
        let path = format!("links.{}", link.name);
        let [a, b] = link.ends.map(|end| scenario.nodes[end].name.as_str());
        out.line(&format!("{path}.between"), format!("{a}, {b}"));
        out.line(&format!("{path}.shared"), link.shared);
        out.debug(&format!("{path}.advertised_rate"), &link.advertised_rate);
        direction(&mut out, &format!("{path}.forward"), &link.forward);
        direction(&mut out, &format!("{path}.reverse"), &link.reverse);
    }
    flows(&mut out, scenario);
    for (index, event) in scenario.events.iter().enumerate() {
        out.line(&format!("events.{index}"), format!("{} {}", event.at, action(scenario, &event.action)));
    }
    out.line("measure.warm_up", scenario.measure.warm_up);
    out.debug("measure.interval", &scenario.measure.interval);
    out.0
}

/// SHA-256 of the canonical form, in hexadecimal.
pub fn hash(scenario: &Scenario) -> String {
    let digest = Sha256::digest(canonical(scenario).as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

struct Lines(String);

impl Lines {
    fn line(&mut self, path: &str, value: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.0, "{path} = {value}");
    }

    /// For settings whose types are closed sets of plain values: their debug form is complete and stable.
    fn debug(&mut self, path: &str, value: &impl Debug) {
        let _ = writeln!(self.0, "{path} = {value:?}");
    }
}

fn direction(out: &mut Lines, path: &str, direction: &Direction) {
    // The trace's content counts, not the name of its file.
    out.debug(path, &direction.link);
    out.line(&format!("{path}.up"), direction.up);
}

fn flows(out: &mut Lines, scenario: &Scenario) {
    for flow in &scenario.flows {
        let path = format!("flows.{}", flow.name);
        let (from, to) = (&scenario.nodes[flow.from].name, &scenario.nodes[flow.to].name);
        let transport = name_of(registry::TRANSPORTS, &flow.transport);
        out.line(&path, format!("{from} -> {to} by {transport}, {} to {:?}", flow.start, flow.stop));
        out.debug(&format!("{path}.via"), &flow.via.map(|node| &scenario.nodes[node].name));
        out.debug(&format!("{path}.traffic"), &flow.traffic);
        if !flow.links.is_empty() {
            let links: Vec<&str> =
                flow.links.iter().map(|&link| scenario.links[link].name.as_str()).collect();
            out.debug(&format!("{path}.links"), &links);
        }
        if flow.transport.is_striped() {
            out.debug(&format!("{path}.ptcp"), &flow.ptcp);
            out.debug(&format!("{path}.striping"), &flow.striping);
        }
        if !matches!(flow.traffic, Traffic::Cbr { .. } | Traffic::ParetoOnOff { .. }) {
            out.debug(&format!("{path}.tcp"), &flow.tcp);
        }
        if flow.transport == Transport::R2cp {
            out.debug(&format!("{path}.r2cp"), &flow.r2cp);
        }
    }
}

fn action(scenario: &Scenario, action: &Action) -> String {
    let node = |index: usize| scenario.nodes[index].name.as_str();
    match action {
        Action::Join(who) => format!("join {}", node(*who)),
        Action::Leave(who) => format!("leave {}", node(*who)),
        Action::Kill(who) => format!("kill {}", node(*who)),
        Action::Restart(who) => format!("restart {}", node(*who)),
        Action::Handoff { host, link, bandwidth } => {
            let link = link.map(|link| &scenario.links[link].name);
            format!("handoff {} to {link:?} with {bandwidth:?}", node(*host))
        }
        Action::StartFlow(flow) => format!("start {}", scenario.flows[*flow].name),
        Action::StopFlow(flow) => format!("stop {}", scenario.flows[*flow].name),
        Action::ChangeLink { link, sides, change } => {
            format!("link {} {sides:?} {change:?}", scenario.links[*link].name)
        }
    }
}
