use super::*;
use prismux_plan::{Action, LinkId, NodeId, Pipe, R2cpSettings, RcpOpener, RcpSettings, TcpSettings};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Rate};

/// `server` - `station` - `client`, with links `lan` and `wlan`.
fn station(flow: impl FnOnce(NodeId, NodeId) -> Flow) -> Plan {
    let mut plan = Plan::new("station", Duration::from_secs(60));
    let (server, station, client) = (plan.host("server"), plan.router("station"), plan.host("client"));
    plan.symmetric_link("lan", [server, station], Default::default());
    plan.symmetric_link("wlan", [station, client], Default::default());
    plan.flow(flow(server, client));
    plan
}

fn r2cp(pipe: impl FnOnce(NodeId) -> Pipe, settings: R2cpSettings) -> Plan {
    station(|server, client| {
        let settings = R2cpSettings { pipes: vec![pipe(server)], ..settings };
        Flow::new("download", server, client, Transport::R2cp(settings))
    })
}

fn fetched(plan: &Plan) -> FetchOrders {
    match Orders::new(plan, Seed(1)).ok().map(|mut orders| orders.flows.swap_remove(0).carrier) {
        Some(Carrier::Fetch(fetch)) => *fetch,
        other => panic!("{other:?}"),
    }
}

fn refused(plan: &Plan) -> String {
    Orders::new(plan, Seed(1)).err().expect("a refusal").to_string()
}

#[test]
fn pipes_keep_links_costs_and_times_and_none_opens_before_its_flow() {
    let pipe = |server| Pipe {
        link: Some(LinkId::new(1)),
        cost: 1,
        closes: Some(Duration::from_secs(40)),
        ..Pipe::new("near", server)
    };
    let settings = R2cpSettings { target_rate: Some(Rate::from_kbps(720)), ..R2cpSettings::DEFAULT };
    let mut plan = r2cp(pipe, settings);
    plan.flows[0].start = Duration::from_secs(2);
    plan.flows[0].tcp.window = Some(ByteCount::new(500_000));
    let fetch = fetched(&plan);
    let expected = Pipe { opens: Duration::from_secs(2), ..pipe(NodeId::new(0)) };
    assert_eq!(fetch.pipes, [expected]);
    assert_eq!((fetch.target_rate, fetch.window), (Some(Rate::from_kbps(720)), plan.flows[0].tcp.window));
}

#[test]
fn rcp_is_one_pipe_over_the_flows_link() {
    let plan = station(|server, client| {
        Flow::new("download", server, client, Transport::Rcp(RcpSettings::DEFAULT)).over(&[LinkId::new(1)])
    });
    assert_eq!(
        fetched(&plan).pipes,
        [Pipe { link: Some(LinkId::new(1)), ..Pipe::new("server", NodeId::new(0)) }]
    );
}

#[test]
fn what_the_programs_do_not_have_is_refused_by_name() {
    let plain = |server| Pipe::new("near", server);
    let other = prismux_plan::registry::SCHEDULING.iter().find(|name| name.name == "first-pending").unwrap();
    let scheduling = r2cp(plain, R2cpSettings { scheduling: other.value, ..R2cpSettings::DEFAULT });
    let mut timeout = r2cp(plain, R2cpSettings::DEFAULT);
    timeout.flows[0].tcp.min_rto = Some(Duration::from_secs(1));
    let mut control = r2cp(plain, R2cpSettings::DEFAULT);
    control.flows[0].tcp.congestion = Some(Congestion::NewReno);
    let servers = r2cp(|server| Pipe { link: Some(LinkId::new(0)), ..plain(server) }, R2cpSettings::DEFAULT);
    for (plan, what) in [
        (scheduling, "another scheduling"),
        (timeout, "tcp.min_rto"),
        (control, "tcp.congestion"),
        (servers, "link \"lan\" of its server"),
    ] {
        let error = refused(&plan);
        assert!(error.contains(what) && error.contains("remedy"), "{error}");
    }
}

#[test]
fn what_the_lab_does_not_have_is_refused_with_a_way_out() {
    for (transport, what) in [
        (Transport::TcpHo, "TCP-HO exists in the simulator only"),
        (Transport::TcpEln, "do not speak \"tcp-eln\""),
        (Transport::RcpEln(RcpSettings::DEFAULT), "do not speak \"rcp-eln\""),
        (Transport::Ptcp(prismux_plan::PtcpSettings::DEFAULT), "do not speak \"ptcp\""),
    ] {
        let error = refused(&station(|server, client| Flow::new("f", server, client, transport)));
        assert!(error.contains(what) && error.contains("--on sim"), "{error}");
    }
    for (congestion, what) in
        [(Congestion::Stp, "kernels have no STP"), (Congestion::Bbr3, "kernels have no BBR of version 3")]
    {
        let tcp = TcpSettings { congestion: Some(congestion), ..TcpSettings::default() };
        let flow = |server, client| Flow::new("f", server, client, Transport::Tcp).tcp(tcp.clone());
        let error = refused(&station(flow));
        assert!(error.contains(what) && error.contains("--on sim"), "{error}");
    }
}

#[test]
fn rcp_that_only_the_simulator_has_is_refused_with_a_way_out() {
    let asked = |settings| station(|server, client| Flow::new("f", server, client, Transport::Rcp(settings)));
    let opened = asked(RcpSettings { opened_by: RcpOpener::Sender, ..RcpSettings::DEFAULT });
    let mut asleep = asked(RcpSettings::DEFAULT);
    asleep.event(Duration::from_secs(1), Action::Sleep(prismux_plan::FlowId::new(0)));
    for (plan, what) in [(opened, "knows no limit"), (asleep, "receivers sleep in the simulator only")] {
        let error = refused(&plan);
        assert!(error.contains(what) && error.contains("--on sim"), "{error}");
    }
}

#[test]
fn a_profile_is_the_nearest_that_a_kernel_offers() {
    let era = KernelTcp::of(&TcpSettings::profile(TcpProfile::Linux24));
    assert_eq!((era.congestion.as_deref(), era.initial_window_segments), (Some("reno"), Some(2)));
    let agents = KernelTcp::of(&TcpSettings::profile(TcpProfile::Ns2_2002));
    assert_eq!((agents.mss_bytes, agents.quick_ack), (Some(1000), true));
    let without = KernelTcp::of(&TcpSettings { sack: Some(false), ..TcpSettings::default() });
    // Both build on SACK.
    assert_eq!((without.sack, without.dsack, without.rack), (Some(false), Some(false), Some(false)));
}
