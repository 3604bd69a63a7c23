//! What a lab run writes down while it goes on.
use crate::plans::{community, download, link, lossy, recorded};
use prismux_plan::{Transport, Tunnel};
use prismux_trace::event::{Event, PacketSummary, Record};
use prismux_units::ByteCount;

/// Packets of the flow in one direction of the first member's link, by what became of them: sent, delivered, dropped.
fn on_first_link<'e>(events: &'e [Record<'static>], kind: &str) -> Vec<&'e PacketSummary<'static>> {
    let of = |record: &'e Record<'static>| match &record.event {
        Event::PacketSent { link, from, packet } if kind == "sent" && link == "wwan1" && from == "proxy" => {
            Some(packet)
        }
        Event::PacketDelivered { link, to, packet }
            if kind == "delivered" && link == "wwan1" && to == "m1" =>
        {
            Some(packet)
        }
        Event::PacketDropped { at, from: Some(from), packet, .. }
            if kind == "dropped" && at == "wwan1" && from == "proxy" =>
        {
            Some(packet)
        }
        _ => None,
    };
    events.iter().filter_map(of).collect()
}

pub fn told() {
    let flow = download(Transport::Tcp).bytes(ByteCount::new(2_000_000));
    for tunnel in [Tunnel::Gre, Tunnel::GreInUdp] {
        let links = [lossy(link(4, 20), 0.02), link(4, 30)];
        let plan = crate::members::with_tunnel(community(8.0, &links, flow.clone()), tunnel);
        let (outcome, events) = recorded(&plan);
        let stats = &outcome.emulator.links[1].0.stats;
        let count = |kind| on_first_link(&events, kind).len() as u64;
        let all = [stats.offered_packets, stats.delivered_packets, stats.dropped_packets()];
        assert_eq!(["sent", "delivered", "dropped"].map(count), all, "{tunnel:?}");
        assert!(stats.dropped_packets() > 0, "a lossy link");
        // In the tunnel or not, segments are known by their flow and carry their numbers.
        let segments = on_first_link(&events, "delivered").into_iter().filter_map(|packet| {
            assert!(packet.flow.as_deref().is_none_or(|flow| flow == "download"));
            packet.segment.as_ref().map(|segment| u64::from(segment.payload_bytes))
        });
        assert!(segments.sum::<u64>() > 500_000, "{tunnel:?}");
        let windows = |record: &&Record<'_>| match &record.event {
            Event::WindowChanged { cwnd_bytes, .. } => *cwnd_bytes > 0,
            _ => false,
        };
        assert!(events.iter().filter(windows).count() > 20, "{tunnel:?}");
        let held = |record: &&Record<'_>| matches!(record.event, Event::HeldChanged { .. });
        assert!(events.iter().filter(held).count() > 5, "{tunnel:?}");
        daemons_told(&events);
    }
}

/// What the daemons tell on their status pages is in the log of the run, under the names of the plan.
fn daemons_told(events: &[Record<'static>]) {
    let joined: Vec<(u64, &str)> = events
        .iter()
        .filter_map(|record| match &record.event {
            Event::MemberJoined { member, peer: Some(_) } => Some((record.time_ns, &**member)),
            _ => None,
        })
        .collect();
    assert_eq!(joined.len(), 2, "{joined:?}");
    assert!(joined.contains(&(0, "m1")) && joined.contains(&(0, "m2")), "before the run began: {joined:?}");
    let registered = |record: &&Record<'_>| match &record.event {
        Event::RegistrationChanged { member, registered, .. } => *registered && member == "m1",
        _ => false,
    };
    assert_eq!(events.iter().filter(registered).count(), 1, "the member tells it");
    let state = |record: &&Record<'_>| match &record.event {
        Event::LinkStateChanged { node, member, .. } => node == "proxy" && member.starts_with('m'),
        _ => false,
    };
    assert!(events.iter().any(|record| state(&record)), "links are measured, used or set aside");
}
