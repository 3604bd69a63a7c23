//! Everything that can be wrong with a plan is found, told with its place, and nothing else with it.
use prismux_link::{LinkChange, LinkConfig};
use prismux_plan::{
    Action, Congestion, Directions, Feature, Flow, Lack, LinkId, MediumModel, MptcpSettings, NodeId, Pipe,
    Plan, Problem, ProxySettings, PtcpSettings, R2cpSettings, Role, TcpSettings, Traffic, Transport, Tunnel,
};
use prismux_units::{ByteCount, Duration, Rate};

const SERVER: NodeId = NodeId::new(0);
const PROXY: NodeId = NodeId::new(1);
const M1: NodeId = NodeId::new(2);
const RECEIVER: NodeId = NodeId::new(3);
const ISLAND: NodeId = NodeId::new(4);

/// A server, a proxy with a member, a receiver, and a host that no link leads to.
fn good() -> Plan {
    let mut plan = Plan::new("good", Duration::from_secs(60));
    plan.host("server");
    plan.prism_proxy("proxy", ProxySettings::default());
    plan.member("m1");
    plan.host("receiver");
    plan.host("island");
    for (name, ends) in [("backbone", [SERVER, PROXY]), ("wwan1", [PROXY, M1]), ("wlan1", [M1, RECEIVER])] {
        plan.symmetric_link(name, ends, LinkConfig::default());
    }
    plan.flow(Flow::new("download", SERVER, RECEIVER, Transport::Tcp));
    plan
}

/// The paths and the words of what is wrong with the plan as `spoil` makes it.
fn faults(spoil: impl FnOnce(&mut Plan)) -> Vec<(String, String)> {
    let mut plan = good();
    spoil(&mut plan);
    let faults = plan.check().err().map(|error| error.faults).unwrap_or_default();
    faults.iter().map(|fault| (fault.path(), fault.found())).collect()
}

#[track_caller]
fn assert_fault(path: &str, found: &str, spoil: impl FnOnce(&mut Plan)) {
    assert_eq!(faults(spoil), [(path.to_string(), found.to_string())]);
}

#[test]
fn a_good_plan_has_no_faults() {
    assert_eq!(faults(|_| ()), []);
}

#[test]
fn names_differ_and_references_lead_somewhere() {
    assert_fault("nodes.m1", "two nodes are called \"m1\"", |plan| {
        plan.host("m1");
    });
    assert_fault("links.wwan1", "two links are called \"wwan1\"", |plan| {
        plan.symmetric_link("wwan1", [M1, RECEIVER], LinkConfig::default());
    });
    assert_fault("flows.download", "two flows are called \"download\"", |plan| {
        plan.flow(plan.flows[0].clone());
    });
    assert_fault("flows.download", "it refers to a node that the plan does not have", |plan| {
        plan.flows[0].to = NodeId::new(99);
    });
    assert_fault("events.0", "it refers to a link that the plan does not have", |plan| {
        let (link, change) = (LinkId::new(99), LinkChange::DOWN);
        plan.event(Duration::ZERO, Action::ChangeLink { link, directions: Directions::Both, change });
    });
    assert_fault("links.knot.between", "both ends are \"m1\"", |plan| {
        plan.symmetric_link("knot", [M1, M1], LinkConfig::default());
    });
}

#[test]
fn flows_arrive_and_end_after_they_begin() {
    assert_fault("flows.download.to", "no links lead from \"server\" to \"island\"", |plan| {
        plan.flows[0].to = ISLAND;
    });
    assert_fault("flows.download.to", "the flow goes from \"server\" to \"server\"", |plan| {
        plan.flows[0].to = SERVER;
    });
    assert_fault("flows.download.start", "it starts at 60 s but the run ends at 60 s", |plan| {
        plan.flows[0].start = Duration::from_secs(60);
    });
    assert_fault("flows.download.stop", "it stops at 5 s but starts at 5 s", |plan| {
        (plan.flows[0].start, plan.flows[0].stop) = (Duration::from_secs(5), Some(Duration::from_secs(5)));
    });
}

#[test]
fn hosts_are_not_passed_on_any_flows_way() {
    assert_fault("flows.download.to", "no links lead from \"server\" to \"island\"", |plan| {
        plan.symmetric_link("tether", [RECEIVER, ISLAND], LinkConfig::default());
        plan.flows[0].to = ISLAND;
    });
    // Over the backbone the server is near, over its other link only through a host.
    assert_fault("flows.download.links", "no links lead from \"island\" to \"receiver\"", |plan| {
        plan.symmetric_link("side", [SERVER, ISLAND], LinkConfig::default());
        let tether = plan.symmetric_link("tether", [ISLAND, RECEIVER], LinkConfig::default());
        plan.flows[0].links = vec![LinkId::new(tether.index() - 1)];
    });
}

#[test]
fn media_are_between_several_nodes_that_exist() {
    let bus = MediumModel::Bus(LinkConfig::default());
    assert_fault("media.bus.attached", "found fewer than two nodes, or a node twice", |plan| {
        plan.medium("bus", &[SERVER, SERVER], bus.clone());
    });
    assert_fault("media.bus", "two media are called \"bus\"", |plan| {
        plan.medium("bus", &[SERVER, ISLAND], bus.clone());
        plan.medium("bus", &[RECEIVER, ISLAND], bus.clone());
    });
    assert_fault("media.bus", "it refers to a node that the plan does not have", |plan| {
        plan.medium("bus", &[SERVER, NodeId::new(99)], bus.clone());
    });
    assert_eq!(
        faults(|plan| {
            plan.medium("bus", &[RECEIVER, M1, ISLAND], bus.clone());
            plan.flows[0].to = ISLAND;
        }),
        [],
        "a flow may come over a medium"
    );
}

/// Random plans: whether a flow arrives is the same question as whether there is a shortest path.
#[test]
fn a_flow_is_unreachable_exactly_where_no_shortest_path_leads() {
    let mut state = 1_u64;
    let mut below = |limit: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % limit) as u32
    };
    let (mut reached, mut missed) = (0, 0);
    for number in 0..400 {
        let mut plan = Plan::new("random", Duration::from_secs(1));
        for node in 0..7 {
            let name = format!("n{node}");
            if below(2) == 0 {
                plan.host(&name)
            } else {
                plan.router(&name)
            };
        }
        for link in 0..below(8) {
            let a = below(7);
            let b = (a + 1 + below(6)) % 7;
            plan.symmetric_link(&format!("l{link}"), [NodeId(a), NodeId(b)], LinkConfig::default());
        }
        if below(3) == 0 {
            let first = below(5);
            let attached = [NodeId(first), NodeId(first + 1), NodeId(first + 2)];
            plan.medium("bus", &attached, MediumModel::Bus(LinkConfig::default()));
        }
        let (from, to) = (NodeId(0), NodeId(1 + below(6)));
        plan.flow(Flow::new("flow", from, to, Transport::Tcp));
        let path = plan.shortest_path(from, to);
        assert_eq!(plan.check().is_ok(), path.is_some(), "plan {number}: {plan:?}");
        *(if path.is_some() { &mut reached } else { &mut missed }) += 1;
    }
    assert!(reached > 50 && missed > 50, "{reached} {missed}");
}

#[test]
fn traffic_fits_its_transport_and_can_be_made() {
    let cbr = |packet| Traffic::Cbr { rate: Rate::from_kbps(100), packet: ByteCount::new(packet) };
    assert_fault("flows.download.pattern", "found \"cbr\"", |plan| plan.flows[0].traffic = cbr(100));
    let udp = |plan: &mut Plan, traffic| {
        (plan.flows[0].transport, plan.flows[0].traffic) = (Transport::Udp, traffic);
    };
    assert_fault("flows.download.packet", "found packets without payload or without a rate", |plan| {
        udp(plan, cbr(28));
    });
    assert_fault("flows.download.shape", "found 1", |plan| {
        let (rate, packet, on) = (Rate::from_kbps(100), ByteCount::new(100), Duration::from_secs(1));
        udp(plan, Traffic::ParetoOnOff { rate, packet, on, off: on, shape: 1.0 });
    });
    assert_fault("flows.download.response", "found requests or responses without a byte", |plan| {
        let (request, response) = (ByteCount::new(1), ByteCount::ZERO);
        let think = Duration::ZERO;
        plan.flows[0].traffic = Traffic::RequestResponse { request, response, think, exchanges: None };
    });
    let updates = |every| Traffic::Bulk { bytes: None, updates_every: Some(ByteCount::new(every)) };
    assert_fault("flows.download.updates_every", "found updates after every 0 B", |plan| {
        plan.flows[0].traffic = updates(0);
    });
    assert_fault("flows.download.updates_every", "found updates with transport \"mptcp\"", |plan| {
        plan.flows[0].transport = Transport::Mptcp(MptcpSettings::DEFAULT);
        plan.flows[0].traffic = updates(32_768);
    });
}

#[test]
fn links_and_pipes_are_those_of_the_flows_ends() {
    assert_fault(
        "flows.download.links",
        "link \"wwan1\" ends neither at \"server\" nor at \"receiver\"",
        |plan| {
            plan.flows[0].links = vec![LinkId::new(1)];
        },
    );
    assert_fault("flows.download.links", "found 2 links for a flow of one pipe", |plan| {
        plan.flows[0].links = vec![LinkId::new(0), LinkId::new(2)];
    });
    let r2cp = |plan: &mut Plan, pipes| {
        plan.flows[0].transport = Transport::R2cp(R2cpSettings { pipes, ..R2cpSettings::DEFAULT });
    };
    assert_fault("flows.download.pipes", "found no pipe", |plan| r2cp(plan, vec![]));
    assert_fault(
        "flows.download.congestion",
        "found coupled pipes with BBR, whose rate has no increase to couple",
        |plan| {
            plan.flows[0].transport =
                Transport::Ptcp(PtcpSettings { coupled: true, ..PtcpSettings::DEFAULT });
            plan.flows[0].tcp.congestion = Some(Congestion::Bbr);
        },
    );
    assert_fault("flows.download.pipes.p", "\"proxy\" cannot serve \"receiver\"", |plan| {
        r2cp(plan, vec![Pipe::new("p", PROXY)]);
    });
    assert_fault("flows.download.pipes.p", "no links lead from \"island\" to \"receiver\"", |plan| {
        r2cp(plan, vec![Pipe::new("p", ISLAND)]);
    });
}

#[test]
fn proxies_have_members_and_only_flows_past_them_go_via_one() {
    assert_fault("nodes.proxy.members", "\"receiver\" is not a member", |plan| {
        let Role::PrismProxy(settings) = &mut plan[PROXY].role else { return };
        settings.members = Some(vec![RECEIVER]);
    });
    assert_fault("nodes.proxy.members", "no link joins \"proxy\" to a member", |plan| {
        plan[M1].role = Role::Router;
    });
    assert_fault("flows.download.via", "\"proxy\" is not a member", |plan| plan.flows[0].via = Some(PROXY));
    assert_fault("flows.download.via", "found via with transport \"tcp-prism\"", |plan| {
        (plan.flows[0].via, plan.flows[0].transport) = (Some(M1), Transport::TcpPrism);
    });
}

#[test]
fn events_are_of_nodes_that_can_have_them_in_a_possible_order() {
    let at = Duration::from_secs(1);
    assert_fault("events.0.join", "\"receiver\" is not a member", |plan| {
        plan.event(at, Action::Join(RECEIVER))
    });
    assert_fault(
        "events.0.kill",
        "\"server\" is not a member, a proxy or a host with a routing protocol",
        |plan| {
            plan.event(at, Action::Kill(SERVER));
        },
    );
    assert_fault("nodes.m1", "\"m1\" joins at 1 s but is in the community already", |plan| {
        plan.event(at, Action::Join(M1));
    });
    assert_fault("events.0.to", "\"wwan1\" does not end at \"receiver\"", |plan| {
        plan.event(at, Action::Handoff { host: RECEIVER, link: Some(LinkId::new(1)), bandwidth: None });
    });
}

#[test]
fn every_fault_says_what_was_expected() {
    let mut plan = good();
    plan.flows[0].to = ISLAND;
    let error = plan.check().unwrap_err();
    assert!(matches!(error.faults[0].problem, Problem::Unreachable { .. }));
    let expected = "flows.download.to: no links lead from \"server\" to \"island\"\n  expected: a node that \
        links lead to from \
                    \"server\": server, proxy, m1 or receiver\n  remedy: add a link towards \"island\"";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_host_refuses_what_it_lacks_by_its_table() {
    let lack = |feature, what| [Lack { feature, what, remedy: "leave it out" }];
    let mut plan = good();
    plan.flows[0].tcp = TcpSettings { congestion: Some(Congestion::Bbr), ..TcpSettings::default() };
    plan.event(Duration::from_secs(1), Action::Kill(M1));
    let refused = |lacks: &[Lack]| plan.refuse(lacks).map_err(|error| error.to_string());
    let told = |what: &str| Err(format!("{what}\n  remedy: leave it out"));
    assert_eq!(refused(&lack(Feature::Transport("tcp"), "{}: no TCP")), told("flow \"download\": no TCP"));
    assert_eq!(
        refused(&lack(Feature::Congestion(Congestion::Bbr), "{}: no BBR")),
        told("flow \"download\": no BBR")
    );
    assert_eq!(refused(&lack(Feature::Processes, "{} cannot be killed")), told("\"m1\" cannot be killed"));
    assert_eq!(refused(&lack(Feature::Tunnel(Tunnel::Gre), "{}: no GRE")), told("proxy \"proxy\": no GRE"));
    assert_eq!(refused(&lack(Feature::SharedMedium, "{}")), Ok(()));
}
