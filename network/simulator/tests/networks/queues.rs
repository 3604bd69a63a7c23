//! Managed queues in whole networks: the delay that a TCP keeps in them, marks instead of drops, turns among flows.
use prismux_endpoint::random::Seed;
use prismux_link::{CoDel, FqCoDel, LinkConfig, LinkStats, Management, Pie, QueueLimit, Red};
use prismux_plan::{Flow, FlowId, LinkId, Plan, TcpSettings, Traffic, Transport};
use prismux_simulator::{Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::{TcpConfig, TcpProfile};
use prismux_units::{ByteCount, Duration, Instant, Rate};

const CAPACITY: Rate = Rate::from_mbps(10);
const WAY: Duration = Duration::from_millis(20);

/// One or more TCPs from a server to a host over a bottleneck of 10 Mbit/s and 40 ms of round trip, whose queue holds a
/// second unless it is managed.
fn bottleneck(management: Option<Management>, flows: usize, ecn: bool) -> (Plan, LinkId) {
    let mut plan = Plan::new("bottleneck", Duration::from_secs(30));
    let (server, net, host) = (plan.host("server"), plan.router("net"), plan.host("host"));
    plan.symmetric_link("wide", [server, net], LinkConfig::new(Rate::from_mbps(1000), Duration::ZERO));
    let narrow = LinkConfig::new(CAPACITY, WAY).with_queue(QueueLimit::Packets(850));
    let narrow = LinkConfig { management: management.map(Box::new), ..narrow };
    let link = plan.symmetric_link("narrow", [net, host], narrow);
    for flow in 0..flows {
        let tcp = TcpSettings { ecn: Some(ecn), ..TcpSettings::default() };
        plan.flow(Flow::new(&format!("bulk-{flow}"), server, host, Transport::Tcp).tcp(tcp));
    }
    (plan, link)
}

/// The mean time that packets waited from 10 s on, in milliseconds, and the link's counters and utilisation.
fn standing(plan: &Plan, link: LinkId) -> (f64, LinkStats, f64) {
    let mut plan = plan.clone();
    plan.measure.interval = Some(Duration::from_millis(7));
    let mut simulation =
        Simulation::from_plan(&plan, Seed(1), SimulationOptions::checked()).expect("a good plan");
    simulation.run_until(Instant::ZERO + plan.duration);
    assert_eq!(simulation.faults(), Vec::<String>::new());
    let stats = simulation.forward_stats(link);
    let series = simulation.result().series.expect("sampled");
    let queue = &series.links["narrow"].queue_bytes;
    let late = &queue[queue.len() / 3..];
    let mean = late.iter().sum::<u64>() as f64 / late.len() as f64;
    let used = stats.delivered_bytes as f64 * 8.0 / (CAPACITY.as_bps() as f64 * plan.duration.as_secs_f64());
    (mean * 8.0 / CAPACITY.as_bps() as f64 * 1e3, stats, used)
}

#[test]
fn a_tcp_keeps_about_the_target_in_a_managed_queue_and_all_the_room_in_any_other() {
    let (plan, link) = bottleneck(None, 1, false);
    let (waited, ..) = standing(&plan, link);
    assert!(waited > 100.0, "unmanaged: {waited} ms");
    let disciplines = [
        (Management::CoDel(CoDel::DEFAULT), 1.0..12.0),
        (Management::FqCoDel(FqCoDel::DEFAULT), 1.0..12.0),
        (Management::Pie(Pie::DEFAULT), 4.0..25.0),
        (Management::Red(Red::DEFAULT), 2.0..25.0),
    ];
    for (management, expected) in disciplines {
        let (plan, link) = bottleneck(Some(management), 1, false);
        let (waited, stats, used) = standing(&plan, link);
        assert!(expected.contains(&waited), "{management:?}: {waited} ms");
        assert!(used > 0.85, "{management:?}: {used}");
        assert!(stats.early_drops > 0 && stats.queue_drops == 0 && stats.marked_packets == 0, "{stats:?}");
    }
}

/// RFC 3168: with marks nothing need be repeated.
#[test]
fn marks_take_the_place_of_drops_where_both_ends_understand_them() {
    for management in [
        Management::CoDel(CoDel::DEFAULT),
        Management::FqCoDel(FqCoDel::DEFAULT),
        Management::Red(Red { max_threshold_packets: 150.0, ..Red::DEFAULT }),
    ] {
        let (plan, link) = bottleneck(Some(management), 2, true);
        let (_, stats, used) = standing(&plan, link);
        assert!(stats.marked_packets > 0, "{management:?}: {stats:?}");
        // SYNs, pure ACKs and repetitions are not marked; slow start may overrun RED's upper end.
        assert!(stats.early_drops * 10 < stats.marked_packets.max(100), "{management:?}: {stats:?}");
        assert!(used > 0.85, "{management:?}: {used}");
    }
}

/// RFC 8290: a thin flow does not wait behind a fat one.
#[test]
fn fq_codel_keeps_a_thin_flow_out_of_the_queue_of_a_fat_one() {
    let response_time = |management| {
        let (mut plan, _) = bottleneck(management, 2, false);
        let [host, server] = [2, 0].map(prismux_plan::NodeId::new);
        let traffic = Traffic::RequestResponse {
            request: ByteCount::new(300),
            response: ByteCount::new(1000),
            think: Duration::from_millis(50),
            exchanges: Some(200),
        };
        plan.flow(
            Flow::new("thin", host, server, Transport::Tcp).traffic(traffic).start_at(Duration::from_secs(5)),
        );
        let mut simulation =
            Simulation::from_plan(&plan, Seed(1), SimulationOptions::checked()).expect("a good plan");
        simulation.run_until(Instant::ZERO + plan.duration);
        let bytes = simulation.delivered_bytes(FlowId::new(2));
        assert!(bytes > 0);
        bytes
    };
    // In 25 s: an exchange takes 50 ms of thinking, 40 ms of travel, and what its response waits.
    let (fair, unmanaged) = (response_time(Some(Management::FqCoDel(FqCoDel::DEFAULT))), response_time(None));
    assert!(fair > 3 * unmanaged / 2, "{fair} and {unmanaged} bytes");
}

/// Four flows of `TCP/Sack1` through RED of 10 Mbit/s and 38 ms, as the example `queues` has them: what ns-2.35 gives
/// in ten runs from 10 to 100 s, with `wait_` and without.
#[test]
fn red_holds_the_queue_that_it_holds_in_ns_2() {
    // Used, drops, timeouts of ns-2: 0.940 to 0.948, 1078 to 1123, 18 to 37; 0.984 to 0.987, 831 to 862, 9 to 15.
    for (wait, used, drops, timeouts) in
        [(false, 0.93..0.955, 1030..1170, 10..45), (true, 0.975..0.995, 800..900, 4..25)]
    {
        let red = Red { wait, ecn: false, ..Red::DEFAULT };
        let mut plan = Plan::new("red", Duration::from_secs(100));
        let mut options = SimulationOptions::default();
        let (left, right) = (plan.router("left"), plan.router("right"));
        let back = LinkConfig::new(CAPACITY, Duration::from_millis(15));
        let managed = back.clone().with_queue(QueueLimit::Packets(100)).with_management(Management::Red(red));
        let bottleneck = plan.link("bottleneck", [left, right], managed, back);
        let receive_buffer = ByteCount::new(100_000_000);
        let tcp = TcpConfig { receive_buffer, ..TcpProfile::Ns2_2002.config() };
        let access = LinkConfig::new(Rate::from_mbps(100), Duration::from_millis(2));
        let mut flows = Vec::new();
        for index in 0..4 {
            let (source, sink) = (plan.host(&format!("source{index}")), plan.host(&format!("sink{index}")));
            plan.symmetric_link(&format!("up{index}"), [source, left], access.clone());
            plan.symmetric_link(&format!("down{index}"), [right, sink], access.clone());
            let flow = Flow::new(&format!("flow{index}"), source, sink, Transport::Tcp)
                .start_at(Duration::from_millis(250 * index));
            flows.push(options.carry(&mut plan, flow, TcpFlow::new(tcp.clone())));
        }
        let mut simulation = Simulation::from_plan(&plan, Seed(1), options).expect("a good plan");
        let totals = |simulation: &Simulation| {
            let stats = simulation.forward_stats(bottleneck);
            let senders = flows.iter().filter_map(|&flow| simulation.sender(flow));
            let late = senders.map(|sender| sender.engine().metrics().counters.timeouts).sum::<u64>();
            [stats.delivered_bytes, stats.dropped_packets(), late]
        };
        simulation.run_until(Instant::from_secs(10));
        let before = totals(&simulation);
        simulation.run_until(Instant::from_secs(100));
        let after = totals(&simulation);
        let [bytes, dropped, late] = [0, 1, 2].map(|index| after[index] - before[index]);
        let share = bytes as f64 * 8.0 / 90.0 / CAPACITY.as_bps() as f64;
        let text = format!("wait {wait}: {share} used, {dropped} dropped, {late} timeouts");
        assert!(used.contains(&share) && drops.contains(&dropped) && timeouts.contains(&late), "{text}");
    }
}
