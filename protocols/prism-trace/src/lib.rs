//! What the PRISM proxy decides and notices, in the vocabulary of events: the one place that knows both.
#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing))]

use prismux_prism::{AckRewrite, ProxyEvent};
use prismux_trace::event::{DropReason, Event, LinkState, LossRule, Name};
use prismux_wire::TcpHeader;

/// What a proxy called `node` has noticed about the link of `member`.
pub fn link_event<'a>(event: ProxyEvent, node: Name<'a>, member: Name<'a>) -> Event<'a> {
    let (state, cause) = match event {
        ProxyEvent::LinkStandby { reason, .. } => (LinkState::Standby, Some(reason.into())),
        ProxyEvent::LinkResumed { .. } => (LinkState::Active, None),
        ProxyEvent::LinkSilent { .. } => (LinkState::Silent, None),
        ProxyEvent::PacketLost { by_age, .. } => {
            let by = if by_age { LossRule::Age } else { LossRule::LinkOrder };
            return Event::LossDetected { node, member, by };
        }
        ProxyEvent::PacketRepaired { .. } => return Event::PacketRepaired { node, member },
    };
    Event::LinkStateChanged { node, member, state, cause }
}

/// A proxy called `node` lets an ACK of `flow` go that came in with the header `arrived`, where that is known.
pub fn ack_released<'a>(
    node: Name<'a>,
    flow: Name<'a>,
    arrived: Option<&TcpHeader>,
    rewrite: &AckRewrite,
) -> Event<'a> {
    Event::AckReleased {
        node,
        flow,
        ack: rewrite.ack.0,
        rewritten: arrived.is_some_and(|header| rewrite.changes(header)),
        report: rewrite.report.is_some(),
    }
}

/// Why the proxy dropped a packet.
pub const fn drop_reason(reason: prismux_prism::DropReason) -> DropReason {
    match reason {
        prismux_prism::DropReason::NoLink => DropReason::NoLink,
        prismux_prism::DropReason::RepeatedAck => DropReason::RepeatedAck,
        prismux_prism::DropReason::ProbeAnswer => DropReason::ProbeAnswer,
        prismux_prism::DropReason::StaleAck => DropReason::StaleAck,
        prismux_prism::DropReason::SpuriousRetransmission => DropReason::SpuriousRetransmission,
        prismux_prism::DropReason::NoRoom => DropReason::NoRoom,
    }
}

#[cfg(test)]
mod tests;

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
