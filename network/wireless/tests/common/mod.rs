//! Driving an air: what simulator and studies do, in a few lines.
// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code)]
use prismux_endpoint::random::Seed;
use prismux_units::{Duration, Instant};
use prismux_wireless::{
    Air, AirConfig, AirEvent, HostConfig, HostId, HostStats, MacConfig, Mobility, Outgoing, Position,
    Priority, RadioConfig,
};

/// Hosts that stay, with the radio of ns-2.
pub fn still(mac: MacConfig, places: &[(f64, f64)], seed: u64) -> Air<u64> {
    let mobility = places.iter().map(|&(x_m, y_m)| Mobility::Static(Position { x_m, y_m })).collect();
    air(RadioConfig::wavelan(), mac, mobility, seed)
}

/// Hosts that move, without a report of frames.
pub fn air(radio: RadioConfig, mac: MacConfig, hosts: Vec<Mobility>, seed: u64) -> Air<u64> {
    let config = AirConfig::new(radio, mac);
    Air::new(&config, named(hosts), Seed(seed)).expect("a possible air")
}

/// Hosts on one channel, called h0, h1, ...
pub fn named(hosts: Vec<Mobility>) -> Vec<HostConfig> {
    let host = |(index, mobility)| HostConfig::new(format!("h{index}"), mobility);
    hosts.into_iter().enumerate().map(host).collect()
}

/// A packet for a neighbour.
pub fn unicast(to: u32, bytes: u32, payload: u64) -> Outgoing<u64> {
    Outgoing { to: Some(HostId(to)), bytes, priority: Priority::Normal, payload }
}

/// Runs an air until `end`; what happens is handed to `act`, which may send.
pub fn run(air: &mut Air<u64>, end: Instant, mut act: impl FnMut(&mut Air<u64>, Instant, AirEvent<u64>)) {
    while let Some(now) = air.next_timeout().filter(|at| *at <= end) {
        air.handle_timeout(now);
        while let Some(event) = air.poll_event() {
            act(air, now, event);
        }
    }
}

/// Keeps one packet of `bytes` waiting at each of `sources` for its sink, until `end`.
pub fn saturate(air: &mut Air<u64>, flows: &[(u32, u32)], bytes: u32, end: Instant) {
    for &(source, sink) in flows {
        for _ in 0..2 {
            air.send(Instant::ZERO, HostId(source), unicast(sink, bytes, 0)).expect("an empty queue");
        }
    }
    run(air, end, |air, now, event| {
        if let AirEvent::Sent { host, to: Some(to), .. } | AirEvent::Failed { host, next_hop: to, .. } = event
        {
            air.send(now, host, unicast(to.0, bytes, 0)).expect("room for what was sent");
        }
    });
}

/// The counters of all hosts.
pub fn stats(air: &Air<u64>, now: Instant, hosts: usize) -> Vec<HostStats> {
    (0..hosts as u32).map(|host| air.stats(now, HostId(host))).collect()
}

/// Every packet and every signal is in exactly one counter, or still under way.
pub fn assert_conserved(air: &Air<u64>, now: Instant, hosts: usize) {
    let all = stats(air, now, hosts);
    for (index, host) in all.iter().enumerate() {
        let waiting = air.waiting_packets(HostId(index as u32)) as u64;
        assert_eq!(host.packets_offered, host.packets_ended() + waiting, "packets of h{index}: {host:?}");
        assert!(host.signals_ended() <= host.signals, "signals of h{index}: {host:?}");
        let active = host.sending + host.receiving + host.asleep;
        assert!(active <= now - Instant::ZERO, "time of h{index}: {host:?}");
    }
    let (signals, ended): (u64, u64) =
        all.iter().fold((0, 0), |sum, host| (sum.0 + host.signals, sum.1 + host.signals_ended()));
    let open = signals - ended;
    assert!(
        open <= air.signals_under_way(),
        "{open} signals have no end, {} are on the air",
        air.signals_under_way()
    );
}

pub fn secs(seconds: u64) -> Instant {
    Instant::ZERO + Duration::from_secs(seconds)
}
