//! TCP-DOOR between simulated hosts whose route changes.
use prismux_endpoint::random::Seed;
use prismux_link::{Jitter, LinkChange, LinkConfig, QueueLimit};
use prismux_plan::{Action, Flow, FlowId, LinkId, Plan, TcpSettings, Transport};
use prismux_simulator::{Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_tcp_door::{Door, DoorConfig, DoorCounters, Setting};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use proptest::prelude::*;

const PROFILES: [TcpProfile; 3] = [TcpProfile::Modern, TcpProfile::Linux24, TcpProfile::Ns2_2002];

/// What the route does: it breaks for `gap_ms` and goes on over a shorter one, which lasts `short_ms`.
#[derive(Debug, Clone, Copy)]
struct Change {
    at_ms: u64,
    gap_ms: u64,
    short_ms: u64,
}

/// server -- route -- client, 2 Mbit/s; 160 ms, over the shorter route 80 ms. Packets may pass each other.
fn plan(transport: Transport, profile: TcpProfile, changes: &[Change], seconds: u64) -> Plan {
    let mut plan = Plan::new("route changes", Duration::from_secs(seconds));
    let (server, client) = (plan.host("server"), plan.host("client"));
    let long = Duration::from_millis(160);
    let mut link = LinkConfig::new(Rate::from_mbps(2), long).with_queue(QueueLimit::Packets(50));
    link.jitter = Jitter { max: Duration::from_micros(1), in_order: false };
    let route = plan.symmetric_link("route", [server, client], link);
    let window = Some(ByteCount::new(60_000));
    let settings = TcpSettings { profile, window, ..TcpSettings::default() };
    plan.flow(Flow::new("download", server, client, transport).tcp(settings));
    for change in changes {
        let mut then = |ms: u64, change: LinkChange| {
            plan.event(Duration::from_millis(ms), Action::both_ways(route, change));
        };
        then(change.at_ms, LinkChange::DOWN);
        let back = change.at_ms + change.gap_ms;
        then(back, LinkChange { delay: Some(Duration::from_millis(80)), ..LinkChange::UP });
        then(back + change.short_ms, LinkChange::delay(long));
    }
    plan
}

/// How a run ended: bytes delivered, timeouts, and what both ends have seen.
#[derive(Debug, PartialEq, Eq)]
struct Ended {
    delivered: u64,
    timeouts: u64,
    restorations: u64,
    sender: DoorCounters,
}

fn run(plan: &Plan, seed: u64) -> Ended {
    let mut simulation =
        Simulation::from_plan(plan, Seed(seed), SimulationOptions::checked()).expect("a plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let flow = FlowId(0);
    let sender = simulation.sender(flow).expect("a connection");
    let counters = sender.metrics().engine.counters;
    Ended {
        delivered: simulation.delivered_bytes(flow),
        timeouts: counters.timeouts,
        restorations: counters.restorations,
        sender: sender.order_watch::<Door>().map(|door| *door.counters()).unwrap_or_default(),
    }
}

fn door(config: DoorConfig) -> Transport {
    Transport::TcpDoor(config)
}

/// Eight changes, four seconds apart.
fn changes() -> Vec<Change> {
    (0..8).map(|k| Change { at_ms: 5000 + 4000 * k, gap_ms: 30, short_ms: 1970 }).collect()
}

#[test]
fn shorter_routes_are_seen_and_the_window_is_kept() {
    for profile in PROFILES {
        let ended = run(&plan(door(DoorConfig::published()), profile, &changes(), 40), 1);
        assert!(ended.sender.late_acks > 0 && ended.sender.reports > 0, "{profile:?}: {ended:?}");
        assert!(ended.sender.events >= 4, "{profile:?}: {ended:?}");
        assert_eq!(ended, run(&plan(door(DoorConfig::published()), profile, &changes(), 40), 1));
    }
}

/// The senders of ns-2 and of Linux 2.4 take what the route does for congestion; with TCP-DOOR they deliver more.
#[test]
fn a_sender_of_its_time_delivers_more() {
    for profile in [TcpProfile::Linux24, TcpProfile::Ns2_2002] {
        let plain = run(&plan(Transport::Tcp, profile, &changes(), 40), 1);
        let ended = run(&plan(door(DoorConfig::published()), profile, &changes(), 40), 1);
        assert!(ended.delivered > plain.delivered, "{profile:?}: {ended:?}, without {plain:?}");
    }
}

#[test]
fn either_detector_alone_sees_every_shorter_route() {
    for name in ["sd-t1x2-t2x4", "rd-t1x2-t2x4"] {
        let setting = Setting::parse(name).expect("a setting");
        let ended = run(&plan(door(setting.config()), TcpProfile::Ns2_2002, &changes(), 40), 1);
        assert!(ended.sender.events >= 4, "{name}: {ended:?}");
    }
}

/// Two SYNs are lost; the third goes without the option, or with it where the configuration says so, and then packets
/// have numbers.
#[test]
fn the_option_may_outlast_lost_syns() {
    for profile in PROFILES {
        let mut plans = [false, true].map(|option_on_every_syn| {
            let setting = Setting::parse("rd-t1x2-t2x4").expect("a setting");
            let config = DoorConfig { option_on_every_syn, ..setting.config() };
            let later: Vec<Change> = changes()
                .into_iter()
                .map(|change| Change { at_ms: change.at_ms + 15_000, ..change })
                .collect();
            plan(door(config), profile, &later, 60)
        });
        for plan in &mut plans {
            let mut at = |ms: u64, change: LinkChange| {
                plan.event(Duration::from_millis(ms), Action::both_ways(LinkId(0), change));
            };
            // Two timeouts of a SYN: 1 and 2 s of today's stacks, 3 and 6 s of those of their time.
            at(0, LinkChange::DOWN);
            at(if profile == TcpProfile::Modern { 2900 } else { 8900 }, LinkChange::UP);
        }
        let [plain, kept] = plans.map(|plan| agreed(&plan));
        assert_eq!(plain, (false, 0), "{profile:?}");
        assert!(kept.0 && kept.1 >= 4, "{profile:?}: {kept:?}");
    }
}

/// Whether both ends know the option, and what the receiver has reported.
fn agreed(plan: &Plan) -> (bool, u64) {
    let mut simulation = Simulation::from_plan(plan, Seed(1), SimulationOptions::checked()).expect("a plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    let sender = simulation.sender(FlowId(0)).expect("a connection");
    let door = sender.order_watch::<Door>().expect("TCP-DOOR");
    (door.is_agreed(), door.counters().reports)
}

#[test]
fn where_the_route_stays_tcp_door_is_tcp_less_the_option() {
    for profile in PROFILES {
        let plain = run(&plan(Transport::Tcp, profile, &[], 30), 1);
        let ended = run(&plan(door(DoorConfig::published()), profile, &[], 30), 1);
        assert_eq!(ended.sender, DoorCounters::default(), "{profile:?}");
        let share = ended.delivered as f64 / plain.delivered as f64;
        assert!((0.98..=1.0).contains(&share), "{profile:?}: {share}");
    }
}

fn change() -> impl Strategy<Value = Change> {
    (0..20_000u64, 0..2000u64, 0..2000u64).prop_map(|(at_ms, gap_ms, short_ms)| Change {
        at_ms,
        gap_ms,
        short_ms,
    })
}

proptest! {
    #![proptest_config(prismux_properties::cases(20))]

    /// Every byte once and in order over random histories of the route, and the flow goes on after the last.
    #[test]
    fn a_flow_survives_any_history_of_its_route(
        changes in prop::collection::vec(change(), 0..6), index in 0..56usize, profile in 0..3usize, seed in 0..9u64
    ) {
        let setting = Setting::all().nth(index).expect("56 settings");
        let ended = run(&plan(door(setting.config()), PROFILES[profile], &changes, 200), seed);
        // 24 s for the changes; whatever was backed off has long ended by then.
        prop_assert!(ended.delivered > 500_000 / 8 * 60, "{:?}", ended);
    }
}
