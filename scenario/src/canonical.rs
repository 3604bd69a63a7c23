//! The canonical form of a plan: equal experiments have equal text, and so equal hashes.
//!
//! One `path = value` line per setting, defaults included, in the order of the file; the name, the summary and
//! comments are left out, since they do not change what happens.

use crate::registry::{self, name_of};
use prismux_plan::{
    Action, Flow, LinkDirection, MediumModel, MptcpSettings, NodeId, Plan, PtcpSettings, RcpSettings, Role,
    StripingSettings, Traffic, Transport,
};
use sha2::{Digest, Sha256};
use std::fmt::{Debug, Write};

/// The canonical form.
pub fn canonical(plan: &Plan) -> String {
    let mut out = Lines(String::new());
    out.line("duration", plan.duration);
    nodes(&mut out, plan);
    for link in &plan.links {
        let path = format!("links.{}", link.name);
        let [a, b] = link.ends.map(|end| plan[end].name.as_str());
        out.line(&format!("{path}.between"), format!("{a}, {b}"));
        out.line(&format!("{path}.shared"), link.shared);
        out.debug(&format!("{path}.advertised_rate"), &link.advertised_rate);
        direction(&mut out, &format!("{path}.forward"), &link.forward);
        direction(&mut out, &format!("{path}.reverse"), &link.reverse);
    }
    for medium in &plan.media {
        let attached: Vec<&str> = medium.attached.iter().map(|&node| plan[node].name.as_str()).collect();
        out.line(&format!("media.{}.attached", medium.name), attached.join(", "));
        out.line(&format!("media.{}.model", medium.name), model(&medium.model));
    }
    for flow in &plan.flows {
        self::flow(&mut out, plan, flow);
    }
    for program in &plan.programs {
        let node = &plan[program.node].name;
        let times = format!("{} to {:?}", program.start, program.stop);
        out.line(&format!("programs.{}", program.name), format!("{:?} on {node}, {times}", program.command));
    }
    for (index, event) in plan.events.iter().enumerate() {
        out.line(&format!("events.{index}"), format!("{} {}", event.at, action(plan, &event.action)));
    }
    if let Some(warm_up) = plan.measure.warm_up {
        out.line("measure.warm_up", warm_up);
    }
    out.debug("measure.interval", &plan.measure.interval);
    if plan.measure.delays {
        out.line("measure.delays", true);
    }
    if plan.measure.lost_acks {
        out.line("measure.lost_acks", true);
    }
    out.0
}

/// SHA-256 of the canonical form, in hexadecimal.
pub fn hash(plan: &Plan) -> String {
    let digest = Sha256::digest(canonical(plan).as_bytes());
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Settings of media that came later, as they are when a file leaves them out: not told, so that hashes stay.
const LATER_SETTINGS: [&str; 16] = [
    "rate_control: Fixed, ",
    "aggregation: None, ",
    "address_resolution: None, ",
    "coordination: Distributed, ",
    "roles: [], ",
    "channels: [], ",
    "further_radios: [], ",
    "channel_settings: [], ",
    ", role: Station",
    "notes_neighbours: true, ",
    ", cells: None",
    ", relays_below_db: None",
    "overhears_once: false, ",
    "nested_errors_of_others: false, ",
    "gratuitous_by_route: false, ",
    "flow_state: false, ",
];

fn model(model: &MediumModel) -> String {
    let text = format!("{model:?}");
    LATER_SETTINGS.iter().fold(text, |text, later| text.replace(later, ""))
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

fn nodes(out: &mut Lines, plan: &Plan) {
    for id in plan.node_ids() {
        let node = &plan[id];
        let path = format!("nodes.{}", node.name);
        out.line(&format!("{path}.kind"), name_of(registry::NODE_KINDS, &node.kind()));
        match &node.role {
            Role::Host | Role::Router => {}
            Role::Member(member) => out.line(&format!("{path}.present"), member.present),
            Role::PrismProxy(proxy) => {
                out.debug(&format!("{path}.config"), &proxy.config);
                out.line(&format!("{path}.tunnel"), name_of(registry::TUNNELS, &proxy.tunnel));
                if proxy.receipts {
                    out.line(&format!("{path}.receipts"), proxy.receipts);
                }
                if proxy.fec {
                    out.line(&format!("{path}.fec"), proxy.fec);
                }
                let names: Vec<&str> =
                    plan.members_of(id).into_iter().map(|node| plan[node].name.as_str()).collect();
                out.debug(&format!("{path}.members"), &names);
            }
        }
    }
}

fn direction(out: &mut Lines, path: &str, direction: &LinkDirection) {
    // Of a trace the content counts, not the name of its file.
    out.debug(path, &direction.link);
    out.line(&format!("{path}.up"), direction.up);
}

fn flow(out: &mut Lines, plan: &Plan, flow: &Flow) {
    let path = format!("flows.{}", flow.name);
    let (from, to) = (&plan[flow.from].name, &plan[flow.to].name);
    let transport = flow.transport.name();
    out.line(&path, format!("{from} -> {to} by {transport}, {} to {:?}", flow.start, flow.stop));
    if let Some(deadline) = flow.deadline {
        out.line(&format!("{path}.deadline"), deadline);
    }
    out.debug(&format!("{path}.via"), &flow.via.map(|node| &plan[node].name));
    match &flow.traffic {
        // As before a receiver could write back.
        Traffic::Bulk { bytes, updates_every: None } => {
            out.line(&format!("{path}.traffic"), format!("Bulk {{ bytes: {bytes:?} }}"));
        }
        // As before exchanges could be counted.
        Traffic::RequestResponse { request, response, think, exchanges: None } => {
            let text = format!("request: {request:?}, response: {response:?}, think: {think:?}");
            out.line(&format!("{path}.traffic"), format!("RequestResponse {{ {text} }}"));
        }
        traffic => out.debug(&format!("{path}.traffic"), traffic),
    }
    if !flow.links.is_empty() {
        let links: Vec<&str> = flow.links.iter().map(|&link| plan[link].name.as_str()).collect();
        out.debug(&format!("{path}.links"), &links);
    }
    // Transports with a pipe for every link are told apart by both tables, whichever is theirs.
    if let Transport::Mptcp(settings) = &flow.transport {
        // As before the simulator had it.
        if *settings != MptcpSettings::DEFAULT {
            out.debug(&format!("{path}.mptcp"), settings);
        }
    } else if flow.transport.has_pipe_per_link() {
        let (mut ptcp, mut striping) = (PtcpSettings::DEFAULT, StripingSettings::DEFAULT);
        match &flow.transport {
            Transport::Ptcp(settings) => ptcp = *settings,
            Transport::StripingUnaware(settings) | Transport::StripingSmart(settings) => {
                striping = settings.clone();
            }
            _ => {}
        }
        // As before there was a choice.
        let text = format!("{ptcp:?}").replace(", reassign_to_same_pipe: false", "");
        let text = text.replace(", address_lists: false", "");
        out.line(&format!("{path}.ptcp"), text);
        let text = format!("{striping:?}").replace(", over: Tcp", "");
        out.line(&format!("{path}.striping"), text);
    }
    if !flow.traffic.is_datagrams() {
        // As before there was a choice.
        let later =
            ["forget_sacks", "rfc6675", "polls_per_rtt", "ecn_echo", "repeat_syn_ack", "syn_loss_is_timeout"];
        let all = format!("{:?}", flow.tcp);
        let tcp = later.iter().fold(all, |text, key| text.replace(&format!(", {key}: None"), ""));
        out.line(&format!("{path}.tcp"), tcp);
    }
    if let Transport::TcpDoor(settings) = &flow.transport {
        // As before there was a choice.
        let later = ["grows_while_frozen", "option_on_every_syn"];
        let all = format!("{settings:?}");
        let door = later.iter().fold(all, |text, key| text.replace(&format!("{key}: false, "), ""));
        out.line(&format!("{path}.door"), door);
    }
    // As before there was a choice.
    if let Some(settings) = flow.transport.rcp().filter(|settings| **settings != RcpSettings::DEFAULT) {
        out.debug(&format!("{path}.rcp"), settings);
    }
    if let Transport::R2cp(settings) = &flow.transport {
        out.debug(&format!("{path}.r2cp"), settings);
    }
}

fn action(plan: &Plan, action: &Action) -> String {
    let node = |id: NodeId| plan[id].name.as_str();
    match *action {
        Action::Join(who) => format!("join {}", node(who)),
        Action::Leave(who) => format!("leave {}", node(who)),
        Action::Kill(who) => format!("kill {}", node(who)),
        Action::Restart(who) => format!("restart {}", node(who)),
        Action::Handoff { host, link, bandwidth } => {
            let link = link.map(|link| &plan[link].name);
            format!("handoff {} to {link:?} with {bandwidth:?}", node(host))
        }
        Action::Tune { host, channel } => format!("tune {} to {channel}", node(host)),
        Action::StartFlow(flow) => format!("start {}", plan[flow].name),
        Action::StopFlow(flow) => format!("stop {}", plan[flow].name),
        Action::Sleep(flow) => format!("sleep {}", plan[flow].name),
        Action::Wake(flow) => format!("wake {}", plan[flow].name),
        Action::ChangeLink { link, directions, change } => {
            format!("link {} {directions:?} {change:?}", plan[link].name)
        }
    }
}
