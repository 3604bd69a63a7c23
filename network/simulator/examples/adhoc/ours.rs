//! A run of this simulator.
use super::Measured;
use super::networks::{Kind, Network};
use super::paths::Hops;
use prismux_endpoint::random::Seed;
use prismux_plan::{Flow, MediumModel, Plan, Radio, Routing, TcpSettings, Traffic, Transport, registry};
use prismux_simulator::{MediumId, RadioMedium, Simulation, SimulationOptions};
use prismux_tcp::TcpProfile;
use prismux_tcp_door::{Door, DoorConfig};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{AddressResolution, MacConfig, QueueRule, RadioConfig, parse_ns2};
use std::error::Error;

/// Datagrams as they are on the air without a routing protocol's header. ns-2's have 64 bytes, to which its AODV and
/// DSDV add an IP header; that of its DSR is counted with the header of DSR here.
fn cbr_bytes(routing: &str) -> u64 {
    if routing == "dsr" { 64 } else { 64 + IP_HEADER_BYTES }
}

const IP_HEADER_BYTES: u64 = 20;
const UDP_HEADER_BYTES: u64 = 8;
/// Between two datagrams of a source.
const CBR_PER_S: u64 = 4;

/// Runs `network` with a routing protocol, with the parameters that ns-2 has for it.
pub fn run(network: &Network, routing: &str, seed: u64) -> Result<Measured, Box<dyn Error>> {
    let end = Instant::from_secs(network.seconds);
    // ns-2 does not compare hops while its time is taken.
    let mut simulation = start(network, routing, seed, Transport::Tcp, false)?;
    let before_s = cpu_s()?;
    simulation.run_until(end);
    let cpu_s = cpu_s()? - before_s;
    let air = simulation.medium_as::<RadioMedium>(MediumId::new(0)).ok_or("no air")?;
    let hosts = network.kind.hosts() as usize;
    let frames: u64 =
        (0..hosts).map(|host| air.stats(end, prismux_plan::NodeId::new(host)).frames_sent()).sum();
    let result = simulation.result();
    let flows = result.flows.len();
    // As ns-2 counts: what the senders know to have arrived.
    let acknowledged: u64 = (0..flows)
        .filter_map(|flow| Some(simulation.sender(prismux_plan::FlowId(flow as u32))?.stream_acked()))
        .sum();
    let delivered = |flow: usize| simulation.delivered_bytes(prismux_plan::FlowId(flow as u32));
    let datagrams =
        (0..flows).map(delivered).sum::<u64>() / (cbr_bytes(routing) - IP_HEADER_BYTES - UDP_HEADER_BYTES);
    let sum = |name: &str| -> f64 {
        result.nodes.values().filter_map(|node| node.get(name)).map(|&count| count as f64).sum()
    };
    let sent = |start_ms: u64| (network.seconds as f64 - start_ms as f64 / 1e3) * CBR_PER_S as f64;
    let offered: f64 = network.sources().iter().map(|source| sent(source.start_ms)).sum();
    let [hops_above, shortest_percent] = hops(network, routing, seed)?;
    Ok(Measured {
        goodput_kbps: acknowledged as f64 * 8.0 / network.seconds as f64 / 1e3,
        timeouts: result.flows.values().map(|flow| flow.timeouts as f64).sum(),
        late_per_mille: late_per_mille(network, routing, seed)?,
        delivered_percent: if offered > 0.0 { 100.0 * datagrams as f64 / offered } else { f64::NAN },
        routing_packets: sum("routing_control_packets"),
        hops_above,
        shortest_percent,
        frames: frames as f64,
        cpu_s,
    })
}

/// Hops of datagrams above the fewest, and how many of them came by the fewest, from a run of its own.
fn hops(network: &Network, routing: &str, seed: u64) -> Result<[f64; 2], Box<dyn Error>> {
    if network.sources().is_empty() || !network.kind.is_compared() {
        return Ok([f64::NAN; 2]);
    }
    let mut simulation = start(network, routing, seed, Transport::Tcp, true)?;
    simulation.run_until(Instant::from_secs(network.seconds));
    let result = simulation.result();
    let sum = |name: &str| result.nodes.values().filter_map(|node| node.get(name)).sum::<u64>();
    let hops = Hops {
        packets: sum("routing_delivered_packets"),
        made: sum("routing_hops_made"),
        fewest: sum("routing_fewest_hops"),
        packets_at_fewest: sum("routing_packets_at_fewest_hops"),
    };
    Ok(hops.above_and_percent())
}

/// Late data packets of TCP, from a run of its own whose segments are numbered in the order of sending.
fn late_per_mille(network: &Network, routing: &str, seed: u64) -> Result<f64, Box<dyn Error>> {
    if network.kind != Kind::Transfer {
        return Ok(f64::NAN);
    }
    // Watches, and responds to nothing.
    let watch = DoorConfig { freeze_units: None, restore_units: None, ..DoorConfig::published() };
    let mut simulation = start(network, routing, seed, Transport::TcpDoor(watch), false)?;
    simulation.run_until(Instant::from_secs(network.seconds));
    let (mut late, mut received) = (0, 0);
    for flow in 0..simulation.result().flows.len() as u32 {
        let Some(receiver) = simulation.receiver(prismux_plan::FlowId(flow)) else { continue };
        late += receiver.order_watch::<Door>().map_or(0, |door| door.counters().late_data);
        received += receiver.metrics().segments_received;
    }
    Ok(1000.0 * late as f64 / received as f64)
}

fn start(
    network: &Network,
    routing: &str,
    seed: u64,
    transport: Transport,
    compares_hops: bool,
) -> Result<Simulation, Box<dyn Error>> {
    let plan = plan(network, routing, transport, compares_hops)?;
    let options = SimulationOptions { checks: Some(false), ..SimulationOptions::default() };
    Ok(Simulation::from_plan(&plan, Seed(seed), options)?)
}

fn plan(
    network: &Network,
    routing: &str,
    transport: Transport,
    compares_hops: bool,
) -> Result<Plan, Box<dyn Error>> {
    let cbr_bytes = cbr_bytes(routing);
    let hosts = network.kind.hosts();
    let mobility = parse_ns2("movements", &network.movements, hosts as usize)?;
    let known = |behind: &str| {
        let name = format!("{routing}{behind}");
        registry::ROUTING.iter().find(|known| known.name == name)
    };
    let routing = known("-ns2-strict").or(known("-ns2")).or(known("")).ok_or("no such routing")?.value;
    let mut plan = Plan::new("ad-hoc", Duration::from_secs(network.seconds));
    let nodes: Vec<_> = (0..hosts).map(|host| plan.host(&format!("h{host}"))).collect();
    // ns-2's DSR demands an interface queue of its own.
    let queue = if matches!(routing, Routing::Dsr(_)) { QueueRule::ByKind } else { QueueRule::Shared };
    let address_resolution = AddressResolution::Ns2;
    let mac = MacConfig { queue, address_resolution, ..MacConfig::ns2() };
    let radio = Radio { compares_hops, ..Radio::new(RadioConfig::wavelan(), mac, mobility, routing) };
    plan.medium("air", &nodes, MediumModel::Radio(Box::new(radio)));
    let tcp = TcpSettings {
        mss: Some(1000),
        window: Some(ByteCount::new(32_000)),
        initial_window: Some(2),
        min_rto: Some(Duration::from_millis(200)),
        clock_granularity: Some(Duration::from_millis(10)),
        repeat_syn_ack: Some(false),
        // Its first packet is one of data.
        syn_loss_is_timeout: Some(true),
        ..TcpSettings::profile(TcpProfile::Ns2_2002)
    };
    if network.kind == Kind::Transfer {
        plan.flow(Flow::new("ftp", nodes[0], nodes[1], transport.clone()).tcp(tcp.clone()));
    }
    for (number, &node) in nodes.iter().enumerate().skip(1).filter(|_| network.kind == Kind::Cell) {
        let writes = Traffic::Writes { size: ByteCount::new(1000), every: Duration::from_millis(500) };
        let flow = Flow::new(&format!("cbr-{number}"), node, nodes[0], transport.clone()).traffic(writes);
        plan.flow(flow.tcp(tcp.clone()).start_at(Duration::from_millis(10) * number as u64));
    }
    for (number, source) in network.sources().iter().enumerate() {
        let rate = Rate::from_bps(CBR_PER_S * cbr_bytes * 8);
        let traffic = Traffic::Cbr { rate, packet: ByteCount::new(cbr_bytes) };
        let ends = [source.from, source.to].map(|host| nodes[host as usize]);
        let flow = Flow::new(&format!("cbr-{number}"), ends[0], ends[1], Transport::Udp).traffic(traffic);
        plan.flow(flow.start_at(Duration::from_millis(source.start_ms)));
    }
    Ok(plan)
}

/// User CPU seconds of this process, by the clock that the script for ns-2 reads too.
fn cpu_s() -> Result<f64, Box<dyn Error>> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("no process name")?.1;
    Ok(fields.split_whitespace().nth(11).ok_or("no user time")?.parse::<f64>()? / 100.0)
}
