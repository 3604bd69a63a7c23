//! What is recorded each hour.
use super::network::MEMBERS;
use serde::Serialize;

/// An hour of the run, as it was at its end or counted over it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Hour {
    /// Its number, from 0.
    pub hour: u64,
    /// Live bytes on the heap: the proxy's, and the simulated network's and hosts' around it.
    pub heap_bytes: u64,
    /// Flows that the proxy has state of, and memory for them.
    pub proxy_flows: u64,
    /// Memory of the tables and rings of these flows.
    pub proxy_flow_bytes: u64,
    /// Bytes that the proxy counts as under way over links.
    pub in_flight_bytes: u64,
    /// ACKs and packets that the simulated network carries.
    pub packets_under_way: u64,
    /// Events that wait for their time.
    pub pending_events: u64,
    /// Data packets that the proxy has sent out in this hour.
    pub data_packets: u64,
    /// Copies by which the proxy made good what links had lost.
    pub local_repairs: u64,
    /// CPU time of this hour, simulated hosts and network included.
    pub cpu_s: f64,
    /// Connections that came and went.
    pub connections: Connections,
    /// Connections that are mostly idle and lack what was written into them three minutes ago.
    pub mute: u64,
    /// Links, in their order.
    pub links: [Link; MEMBERS],
}

impl Hour {
    /// CPU time for each data packet, in microseconds, with all that the simulation does for it.
    pub fn packet_us(&self) -> f64 {
        self.cpu_s * 1e6 / self.data_packets.max(1) as f64
    }
}

/// Connections in an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Connections {
    /// Open at its end.
    pub open: u64,
    /// Begun in it.
    pub begun: u64,
    /// Ended with every byte.
    pub completed: u64,
    /// Cut off by one of their ends, as people do.
    pub cut_off: u64,
    /// Ended without all bytes, or with more, and nobody had cut them off.
    pub wrong: u64,
    /// That stood still for a minute.
    pub stalled: u64,
    /// The longest time without progress of one that was open, in seconds.
    pub longest_stall_s: f64,
    /// That did not begin because there was no place in the simulation.
    pub turned_away: u64,
    /// Places that could not be used because the proxy still knew their connection after 16 minutes.
    pub not_forgotten: u64,
    /// Bytes that reached applications, each once.
    pub delivered_bytes: u64,
}

/// A link in an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Link {
    /// Bytes that came out of it towards the receivers.
    pub carried_bytes: u64,
    /// Seconds in which it was there and its member too.
    pub usable_s: u64,
    /// Of these, seconds in which all others that were there were full,
    pub wanted_s: u64,
    /// and those of them in which it carried less than a tenth of its rate.
    pub unused_s: u64,
    /// The most of these in a row.
    pub longest_unused_s: u64,
    /// The learned rate, of what the link can carry at most in that minute: the largest that was seen.
    pub most_learned: f64,
    /// Seconds in which the learned rate was above 1.25 of that, the most in a row.
    pub longest_above_s: u64,
}
