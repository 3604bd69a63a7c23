//! Cells in slots, with the kernel's TCP and UDP at the ends.
use crate::plans::{link, recorded, recorded_steadily, seconds};
use prismux_cellular::slots::{Access, CellConfig, Range};
use prismux_lab::LabOutcome;
use prismux_plan::{Flow, MediumModel, NodeId, Plan, SlottedCell, TcpSettings, Traffic, Transport};
use prismux_trace::event::{Event, Record};
use prismux_units::{ByteCount, Duration, Instant, Rate};
use prismux_wireless::{Mobility, Position};

fn at(x_m: f64) -> Mobility {
    Mobility::Static(Position { x_m, y_m: 0.0 })
}

/// server -- core -- base station at 500 m, and an access point at 100 m where `access` has a use for it; hosts.
fn plan(duration_s: f64, access: Access, hosts: Vec<Mobility>) -> (Plan, NodeId, Vec<NodeId>) {
    let mut plan = Plan::new("cell", seconds(duration_s));
    let (server, core, base) = (plan.host("server"), plan.router("core"), plan.router("base"));
    plan.symmetric_link("backbone", [server, core], link(100, 5));
    plan.symmetric_link("wire", [core, base], link(100, 2));
    let nodes: Vec<NodeId> = (0..hosts.len()).map(|index| plan.host(&format!("h{index}"))).collect();
    let mut attached = nodes.clone();
    let mut mobility = hosts;
    attached.push(base);
    mobility.push(at(500.0));
    let with_point = access == Access::Interworking;
    if with_point {
        let point = plan.router("point");
        plan.symmetric_link("wire-1", [core, point], link(100, 2));
        attached.push(point);
        mobility.push(at(100.0));
    }
    let config = CellConfig {
        access_points: usize::from(with_point),
        range: Range::Fixed(150.0),
        base_range_m: 1000.0,
        update: Duration::from_millis(500),
        ..CellConfig::new(nodes.len())
    };
    let cell = SlottedCell { access, config, mobility, queue_packets: 50, counts_energy: true };
    plan.medium("cell", &attached, MediumModel::Cell(Box::new(cell)));
    (plan, server, nodes)
}

/// TCP whose packets fit into a slot.
fn download(server: NodeId, host: NodeId) -> Flow {
    let tcp = TcpSettings { mss: Some(900), ..TcpSettings::default() };
    Flow { tcp, ..Flow::new("download", server, host, Transport::Tcp) }
}

fn datagrams(name: &str, from: NodeId, to: NodeId) -> Flow {
    let traffic = Traffic::Cbr { rate: Rate::from_kbps(40), packet: ByteCount::new(500) };
    Flow::new(name, from, to, Transport::Udp).traffic(traffic)
}

fn count(outcome: &LabOutcome, node: &str, name: &str) -> u64 {
    outcome.result.nodes[node].get(name).copied().unwrap_or(0)
}

/// Frames that a node has sent, by the log.
fn told(events: &[Record<'static>], node: &str) -> u64 {
    let sent = |record: &&Record<'_>| matches!(&record.event, Event::FrameSent { from, .. } if from == node);
    events.iter().filter(sent).count() as u64
}

/// Peers relay by a schedule: a download over two hops, and datagrams from host to host and out of the cell.
pub fn scheduled() {
    let hosts = vec![at(400.0), at(300.0), at(600.0)];
    let (mut plan, server, hosts) = plan(6.0, Access::Assisted { period_slots: 20 }, hosts);
    plan.flow(download(server, hosts[1]));
    plan.flow(datagrams("up", hosts[1], server));
    plan.flow(datagrams("across", hosts[1], hosts[2]));
    let (outcome, events) = recorded_steadily(&plan);
    let bytes = outcome.flows["download"].arrivals.total_bytes;
    assert!(bytes > 100_000, "{bytes} bytes over a relay");
    for flow in ["up", "across"] {
        let [sent, received] = outcome.flows[flow].packets.expect("packets");
        assert!(sent >= 55 && received * 10 > sent * 8, "{flow}: {received} of {sent} datagrams");
    }
    // Every segment, and all that the far host sends, goes over the near one, and nothing to the base station directly.
    assert!(count(&outcome, "h0", "slots_relayed") > bytes / 900);
    assert!(count(&outcome, "h1", "slots_sent") > 120, "two flows of datagrams, and ACKs");
    assert_eq!(count(&outcome, "h1", "slots_direct"), 0);
    assert!(count(&outcome, "h2", "energy_drawn_uj") > 0, "it hears the base station");
    for (node, names) in [("h0", ["slots_sent", "slots_relayed"]), ("base", ["slots_sent", "slots_relayed"])]
    {
        let sent: u64 = names.iter().map(|name| count(&outcome, node, name)).sum();
        assert_eq!(told(&events, node), sent, "{node}: the log has every packet");
    }
}

/// A host walks out of the range of an access point: its download goes on over the base station, from the instant
/// of the model on.
pub fn walk() {
    let place = |s, x_m| (Instant::from_secs(s), Position { x_m, y_m: 0.0 });
    let walker = Mobility::through(&[place(0, 100.0), place(8, 820.0)]).expect("a walk");
    let (mut plan, server, hosts) = plan(8.0, Access::Interworking, vec![walker, at(450.0)]);
    plan.flow(download(server, hosts[0]));
    let (outcome, events) = recorded(&plan);
    let change = |record: &Record<'static>| match &record.event {
        Event::CellChanged { node, from: Some(from), to: Some(to), .. } => {
            Some((record.time_ns / 1_000_000, format!("{node}: {from} to {to}")))
        }
        _ => None,
    };
    let changes: Vec<(u64, String)> = events.iter().filter_map(change).collect();
    // 90 m/s: 250 m away after 2.8 s.
    assert_eq!(changes, [(0, "h0: base to point".to_owned()), (3000, "h0: point to base".to_owned())]);
    let sent = count(&outcome, "base", "slots_direct");
    assert!(sent > 100, "{sent} packets from the base station");
    let before = told(&events, "point");
    assert!(before > 500, "{before} packets from the access point");
}
