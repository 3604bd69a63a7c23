//! What a plan asks of a host, and how a host says what it lacks.
use crate::{Action, Congestion, MediumModel, Plan, RcpSettings, Role, Transport, Tunnel};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Something that not every host has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// A transport, by its name in [`crate::registry::TRANSPORTS`].
    Transport(&'static str),
    /// A pattern of traffic, by its name in [`crate::registry::PATTERNS`].
    Pattern(&'static str),
    /// A congestion control.
    Congestion(Congestion),
    /// A tunnel.
    Tunnel(Tunnel),
    /// Media that several nodes share, radio and cells in slots excepted.
    SharedMedium,
    /// The hops of packets over radio held against the fewest possible.
    ComparedHops,
    /// Processes that can be killed and started again.
    Processes,
    /// Receivers that sleep and wake at set times.
    Sleep,
    /// Of transports whose receivers ask: another end opens, or the sender limits what may be asked for.
    RequestSettings,
    /// Programs of the user's own.
    Programs,
}

/// A host does not have [`Lack::feature`].
#[derive(Debug, Clone, Copy)]
pub struct Lack {
    /// What is missing.
    pub feature: Feature,
    /// What to say; `{}` stands for whoever asks for it.
    pub what: &'static str,
    /// What to do instead.
    pub remedy: &'static str,
}

/// A plan asks for something that the host does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// What, and where in the plan.
    pub what: String,
    /// What to do instead.
    pub remedy: String,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n  remedy: {}", self.what, self.remedy)
    }
}

impl core::error::Error for Unsupported {}

impl Plan {
    /// Refuses a plan that asks for something in `lacks`, a host's table of what it does not have.
    ///
    /// # Errors
    /// For the first thing that is asked for and missing: what, where, and what to do instead.
    pub fn refuse(&self, lacks: &[Lack]) -> Result<(), Unsupported> {
        for (who, feature) in self.demands() {
            if let Some(lack) = lacks.iter().find(|lack| lack.feature == feature) {
                let (what, remedy) = (lack.what.replace("{}", &who), lack.remedy.into());
                return Err(Unsupported { what, remedy });
            }
        }
        Ok(())
    }

    /// What the plan asks for, and who.
    fn demands(&self) -> Vec<(String, Feature)> {
        let mut demands = Vec::new();
        for flow in &self.flows {
            let who = format!("flow \"{}\"", flow.name);
            demands.push((who.clone(), Feature::Transport(flow.transport.name())));
            demands.push((who.clone(), Feature::Pattern(flow.traffic.name())));
            demands.extend(flow.tcp.congestion.map(|control| (who, Feature::Congestion(control))));
            let set = flow.transport.rcp().is_some_and(|settings| *settings != RcpSettings::DEFAULT);
            demands.extend(set.then_some((format!("flow \"{}\"", flow.name), Feature::RequestSettings)));
            let pipes =
                if let Transport::R2cp(settings) = &flow.transport { settings.pipes.as_slice() } else { &[] };
            for pipe in pipes {
                let who = format!("pipe \"{}\" of flow \"{}\"", pipe.name, flow.name);
                demands.extend(pipe.congestion.map(|control| (who, Feature::Congestion(control))));
            }
        }
        for node in &self.nodes {
            if let Role::PrismProxy(settings) = &node.role {
                demands.push((format!("proxy \"{}\"", node.name), Feature::Tunnel(settings.tunnel)));
            }
        }
        for medium in &self.media {
            let who = format!("medium \"{}\"", medium.name);
            match &medium.model {
                MediumModel::Radio(radio) => {
                    demands.extend(radio.compares_hops.then_some((who, Feature::ComparedHops)));
                }
                MediumModel::Cell(_) => {}
                MediumModel::Bus(_) | MediumModel::External => demands.push((who, Feature::SharedMedium)),
            }
        }
        for program in &self.programs {
            demands.push((format!("program \"{}\"", program.name), Feature::Programs));
        }
        for event in &self.events {
            match event.action {
                Action::Kill(node) | Action::Restart(node) => {
                    demands.push((format!("\"{}\"", self[node].name), Feature::Processes));
                }
                Action::Sleep(flow) | Action::Wake(flow) => {
                    demands.push((format!("flow \"{}\"", self[flow].name), Feature::Sleep));
                }
                _ => {}
            }
        }
        demands
    }
}
