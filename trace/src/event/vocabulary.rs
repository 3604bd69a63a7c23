//! The events, each with its fields: the one definition of the schema.
use super::column::Column;
use super::description::RunDescription;
use super::drop_reason::DropReason;
use super::link::{LinkState, LossRule};
use super::packet::Packet;
use super::schema::{value, vocabulary};
use super::text::{Name, Text};
use serde::{Deserialize, Serialize};

vocabulary! {
    columns {
        /// A link of the scenario.
        link: name,
        /// The link or node at which a packet ended.
        at: name,
        /// A node that sends, or an address that was left.
        from: name,
        /// A node that receives, or an address that was taken.
        to: name,
        /// The node that tells.
        node: name,
        /// A flow.
        flow: name,
        /// A medium of the scenario.
        medium: name,
        /// The kind of a frame.
        kind: name,
        /// A member.
        member: name,
        /// A proxy.
        proxy: name,
        /// The address of a tunnel's other end.
        peer: name,
        /// Why, for people.
        cause: name,
        /// A packet.
        packet: packet,
        /// The number of a packet, as in [`Packet::number`].
        number: u64,
        /// Why a packet went no further.
        reason: DropReason,
        /// What a member's link is used for.
        state: LinkState,
        /// How a loss was found.
        by: LossRule,
        /// An acknowledgement number.
        ack: u32,
        /// Whether a packet left with other fields than it came with.
        rewritten: bool,
        /// Whether an ACK carries a loss report.
        report: bool,
        /// Whether a member is registered.
        registered: bool,
        /// Whether a link is up.
        up: bool,
        /// ACKs held back.
        held_acks: u64,
        /// Congestion window in bytes.
        cwnd_bytes: u64,
        /// Slow-start threshold in bytes.
        ssthresh_bytes: u64,
        /// Bytes in flight.
        in_flight_bytes: u64,
        /// Smoothed round-trip time in nanoseconds.
        srtt_ns: u64,
        /// Rate in bits per second.
        rate_bps: u64,
        /// One-way delay in nanoseconds.
        delay_ns: u64,
        /// Believed rate of a link in bits per second.
        bandwidth_bps: u64,
        /// Bytes that reached the application.
        bytes: u64,
        /// How long a frame lasts, in nanoseconds.
        airtime_ns: u64,
        /// Packets that wait for a medium.
        waiting_packets: u64,
        /// Energy drawn since the run began, in microjoules.
        drawn_uj: u64,
        /// Energy left in a battery, in microjoules.
        battery_uj: u64,
        /// A channel of the air.
        channel: u64,
        /// A place: metres to the east.
        x_m: f64,
        /// A place: metres to the north.
        y_m: f64,
    }
    events {
        /// A run ended, and with it its record: a log without this event was cut short.
        RunEnded = "run_ended"
        /// A packet was given to a link.
        PacketSent = "packet_sent" {
            /// The link.
            link: name,
            /// The node that sent it.
            from: name,
            /// The packet.
            packet: packet,
        }
        /// A packet came out of a link.
        PacketDelivered = "packet_delivered" {
            /// The link.
            link: name,
            /// The node that received it.
            to: name,
            /// The packet.
            packet: packet,
        }
        /// A packet went no further.
        PacketDropped = "packet_dropped" {
            /// The link, or the node where there was no link.
            at: name,
            /// The node that had given it to the link; `None` where there was no link.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            from: optional name,
            /// Why.
            reason: DropReason,
            /// The packet.
            packet: packet,
        }
        /// A host is somewhere else than a quarter of a second ago; told as often while it moves.
        HostMoved = "host_moved" {
            /// The host.
            node: name,
            /// Metres to the east.
            x_m: f64,
            /// Metres to the north.
            y_m: f64,
        }
        /// What waits at a host on the air, and its energy: told four times a second where it has changed, energy at
        /// whole seconds.
        HostState = "host_state" {
            /// The host.
            node: name,
            /// Packets that wait for the medium.
            waiting_packets: u64,
            /// Energy drawn since the run began, in microjoules; `None` where energy is not counted or not told now.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            drawn_uj: optional u64,
            /// Energy left in its battery, in microjoules; `None` for a host without one too.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            battery_uj: optional u64,
        }
        /// A frame began on a medium.
        FrameSent = "frame_sent" {
            /// The medium.
            medium: name,
            /// The host that sends it.
            from: name,
            /// Whom it is for; `None` for all who hear it.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            to: optional name,
            /// Its kind: `rts`, `cts`, `data`, `ack` and others of the medium access.
            kind: name,
            /// How long it lasts.
            airtime_ns: u64,
            /// The flow of the packet in it; `None` for control frames and messages of routing protocols.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            flow: optional name,
            /// The number of that packet, or of the one that the frame announces.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            number: optional u64,
        }
        /// A frame with a packet of a flow, or one that announced it, did not come to the neighbour it was for, or was
        /// not answered there.
        FrameLost = "frame_lost" {
            /// The medium.
            medium: name,
            /// The host that sent it.
            from: name,
            /// The neighbour.
            to: name,
            /// What it was lost to there.
            cause: name,
            /// The number of the packet.
            number: u64,
        }
        /// A packet with a number set out from its sender's host.
        PacketOriginated = "packet_originated" {
            /// The host.
            node: name,
            /// The packet.
            packet: packet,
        }
        /// A packet of a flow waits for a medium from now on.
        PacketQueued = "packet_queued" {
            /// The host where it waits.
            node: name,
            /// The packet's number.
            number: u64,
        }
        /// A packet of a flow reached the host that it was for.
        PacketArrived = "packet_arrived" {
            /// The host.
            node: name,
            /// The packet's number.
            number: u64,
        }
        /// A proxy chose a member's link for a packet.
        PacketScheduled = "packet_scheduled" {
            /// The proxy.
            node: name,
            /// The flow.
            flow: name,
            /// The member.
            member: name,
        }
        /// A proxy let a packet go to its sender.
        AckReleased = "ack_released" {
            /// The proxy.
            node: name,
            /// The flow of the data.
            flow: name,
            /// The acknowledgement number it left with.
            ack: u32,
            /// True when it left with other fields than it came with.
            rewritten: bool,
            /// True when it carries a loss report.
            report: bool,
        }
        /// The number of ACKs a proxy holds back for a flow changed.
        HeldChanged = "held_changed" {
            /// The proxy.
            node: name,
            /// The data flow.
            flow: name,
            /// ACKs held now.
            held_acks: u64,
        }
        /// A proxy declared a packet lost.
        LossDetected = "loss_detected" {
            /// The proxy.
            node: name,
            /// The member over whose link the packet went last.
            member: name,
            /// The rule that found it.
            by: LossRule,
        }
        /// A packet that a proxy had resent itself has arrived.
        PacketRepaired = "packet_repaired" {
            /// The proxy.
            node: name,
            /// The member whose link brought it.
            member: name,
        }
        /// A sender's windows changed.
        WindowChanged = "window_changed" {
            /// The flow.
            flow: name,
            /// Congestion window in bytes.
            cwnd_bytes: u64,
            /// Slow-start threshold in bytes; `None` before the first loss.
            ssthresh_bytes: optional u64,
            /// Bytes in flight.
            in_flight_bytes: u64,
            /// Smoothed round-trip time in nanoseconds, once measured.
            srtt_ns: optional u64,
        }
        /// A member's link joined the community.
        MemberJoined = "member_joined" {
            /// The member.
            member: name,
            /// Where its tunnel ends, where a proxy tells.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            peer: optional name,
        }
        /// A member's link left the community.
        MemberLeft = "member_left" {
            /// The member.
            member: name,
            /// Why, where a proxy tells.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            cause: optional name,
        }
        /// A proxy uses a member's link for something else from now on.
        LinkStateChanged = "link_state_changed" {
            /// The proxy.
            node: name,
            /// The member.
            member: name,
            /// What the link is used for.
            state: LinkState,
            /// Why, for people.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            cause: optional name,
        }
        /// A member's tunnel ends at another address from now on.
        PeerMoved = "peer_moved" {
            /// The proxy.
            node: name,
            /// The member.
            member: name,
            /// The address before.
            from: name,
            /// The address from now on.
            to: name,
            /// What that may mean, for people.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            cause: optional name,
        }
        /// A control message was refused. Of many refusals for one reason only some are told.
        RegistrationRefused = "registration_refused" {
            /// The daemon that refused.
            node: name,
            /// Who sent it.
            peer: name,
            /// Why.
            reason: DropReason,
        }
        /// A member is registered at its proxy, or no longer.
        RegistrationChanged = "registration_changed" {
            /// The member.
            member: name,
            /// The proxy's address.
            proxy: name,
            /// Whether it is registered.
            registered: bool,
            /// Why, for people.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            cause: optional name,
        }
        /// A host has another link, or the same one again, and tells its peers.
        HandoffComplete = "handoff_complete" {
            /// The host.
            node: name,
            /// The link it is attached by from now on; `None` when that did not change.
            link: optional name,
            /// What the host believes the link to carry; `None` without an estimate.
            bandwidth_bps: optional u64,
        }
        /// A station belongs to another base station.
        CellChanged = "cell_changed" {
            /// The station.
            node: name,
            /// The base station that it has left; `None` when it belonged to none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            from: optional name,
            /// The one it belongs to from now on; `None` when it hears none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            to: optional name,
            /// By which of its channels; `None` where base stations have one each.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            channel: optional u64,
        }
        /// A station that hears no base station goes over another station, its gateway.
        GatewayChanged = "gateway_changed" {
            /// The station.
            node: name,
            /// The gateway before; `None` when it had none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            from: optional name,
            /// The one from now on; `None` when it has none.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            to: optional name,
        }
        /// A link's properties changed.
        LinkChanged = "link_changed" {
            /// The link.
            link: name,
            /// The node that sends in the direction that changed.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            from: optional name,
            /// Its rate from now on; `None` when the rate did not change.
            rate_bps: optional u64,
            /// Its one-way delay from now on; `None` when the delay did not change.
            delay_ns: optional u64,
            /// Whether it is up.
            up: bool,
        }
        /// A flow began.
        FlowStarted = "flow_started" {
            /// The flow.
            flow: name,
        }
        /// A flow ended.
        FlowFinished = "flow_finished" {
            /// The flow.
            flow: name,
            /// Bytes that reached the application.
            bytes: u64,
        }
    }
}
