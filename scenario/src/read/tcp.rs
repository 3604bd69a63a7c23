//! A flow's profile of TCP, and what the file changes in it.

use super::reader::Reader;
use crate::keys;
use crate::registry;
use prismux_plan::{TcpSettings, Transport};

/// Reads the switches of a flow over `transport`; datagrams have none.
pub(super) fn read(reader: &Reader<'_>, transport: &Transport) -> TcpSettings {
    let mut settings = TcpSettings::default();
    if *transport == Transport::Udp {
        return settings;
    }
    settings.profile = reader.name("profile", registry::PROFILES).unwrap_or(settings.profile);
    settings.congestion = reader.name("congestion", registry::CONGESTION);
    let Some(tcp) = reader.table("tcp", keys::TCP) else { return settings };
    settings.mss = tcp.bytes("mss").and_then(|mss| {
        let fits = (88..=9000).contains(&mss.as_u64());
        if !fits {
            tcp.wrong("mss", format!("found {mss}"), "between 88 B and 9 kB", None);
        }
        fits.then_some(mss.as_u64() as u16)
    });
    settings.window = tcp.bytes("window");
    settings.initial_window = tcp.integer("initial_window", 1..=1000).map(|n| n as u32);
    settings.hystart = tcp.name("hystart", registry::HYSTART);
    settings.sack = tcp.boolean("sack");
    settings.forget_sacks = tcp.boolean("forget_sacks");
    settings.rfc6675 = tcp.boolean("rfc6675");
    settings.polls_per_rtt = tcp.integer("polls_per_rtt", 1..=1000).map(|n| n as u32);
    settings.timestamps = tcp.boolean("timestamps");
    settings.delayed_ack = tcp.duration("delayed_ack");
    settings.min_rto = tcp.duration("min_rto");
    settings.max_rto = tcp.duration("max_rto");
    settings.clock_granularity = tcp.duration("clock_granularity");
    settings.dup_threshold = tcp.integer("dup_threshold", 1..=1000).map(|n| n as u32);
    settings.rack = tcp.boolean("rack");
    settings.tlp = tcp.boolean("tlp");
    settings.undo = tcp.boolean("undo");
    settings.nagle = tcp.boolean("nagle");
    settings.ecn = tcp.boolean("ecn");
    settings.ecn_echo = tcp.name("ecn_echo", registry::ECN_ECHO).flatten();
    settings.min_persist = tcp.duration("min_persist");
    settings.repeat_syn_ack = tcp.boolean("repeat_syn_ack");
    settings.syn_loss_is_timeout = tcp.boolean("syn_loss_is_timeout");
    tcp.finish();
    settings
}
