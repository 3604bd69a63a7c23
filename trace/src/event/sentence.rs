//! What happened, for people: one short sentence, the same in the daemons' logs, on status pages and in the viewer.
use super::drop_reason::DropReason;
use super::text::Text;
use super::vocabulary::{EventKind, Line};
use std::fmt;

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |text: &Option<Text<'_>>| text.as_ref().map_or(String::new(), ToString::to_string);
        let (member, node, link, flow) =
            (name(&self.member), name(&self.node), name(&self.link), name(&self.flow));
        match self.event {
            EventKind::MemberJoined => write!(f, "member {member} joins")?,
            EventKind::MemberLeft => write!(f, "member {member} leaves")?,
            EventKind::LinkStateChanged => {
                let state = self.state.map_or(String::new(), |state| state.to_string());
                write!(f, "{node}: the link of member {member} is {state}")?;
            }
            EventKind::PeerMoved => {
                let (from, to) = (name(&self.from), name(&self.to));
                write!(f, "{node}: member {member} moved from {from} to {to}")?;
            }
            EventKind::RegistrationRefused => {
                let (peer, reason) = (name(&self.peer), self.reason.map_or("", DropReason::name));
                write!(f, "{node}: refused a control message from {peer}: {reason}")?;
            }
            EventKind::RegistrationChanged => {
                let state = if self.registered == Some(true) { "registered" } else { "not registered" };
                write!(f, "member {member}: {state} at {}", name(&self.proxy))?;
            }
            EventKind::HandoffComplete => write!(f, "{node} hands over to {link}")?,
            EventKind::CellChanged => {
                match (&self.from, &self.to) {
                    (Some(from), Some(to)) => write!(f, "{node} hands over from {from} to {to}")?,
                    (Some(from), None) => {
                        write!(f, "{node} hears {from} no longer, and no other base station")?;
                    }
                    (None, Some(to)) => write!(f, "{node} belongs to base station {to}")?,
                    (None, None) => write!(f, "{node} hears no base station")?,
                }
                if let Some(channel) = self.channel {
                    write!(f, ", on channel {channel}")?;
                }
            }
            EventKind::GatewayChanged => match &self.to {
                Some(to) => write!(f, "{node} goes over {to}")?,
                None => write!(f, "{node} goes over {} no longer", name(&self.from))?,
            },
            EventKind::LinkChanged => self.link_change(f, &link)?,
            EventKind::FlowStarted => write!(f, "flow {flow} starts")?,
            EventKind::FlowFinished => {
                write!(f, "flow {flow} ends: {:.3} MB", self.bytes.unwrap_or(0) as f64 / 1e6)?;
            }
            other => write!(f, "{other}")?,
        }
        match (&self.peer, &self.cause) {
            (Some(peer), None) if self.event == EventKind::MemberJoined => write!(f, " from {peer}"),
            (_, Some(cause)) => write!(f, ": {cause}"),
            _ => Ok(()),
        }
    }
}

impl Line<'_> {
    fn link_change(&self, f: &mut fmt::Formatter<'_>, link: &str) -> fmt::Result {
        let up = self.up.unwrap_or(true);
        write!(f, "link {link}{}", if up { "" } else { " goes down" })?;
        if up && self.rate_bps.is_none() && self.delay_ns.is_none() {
            f.write_str(" is up")?;
        }
        if let Some(bps) = self.rate_bps {
            write!(f, ", {:.3} Mbit/s", bps as f64 / 1e6)?;
        }
        match self.delay_ns {
            Some(ns) => write!(f, ", {} ms", ns as f64 / 1e6),
            None => Ok(()),
        }
    }
}
