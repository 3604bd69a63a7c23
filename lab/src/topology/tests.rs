use super::*;
use prismux_endpoint::random::Seed;
use prismux_link::LinkConfig;
use prismux_plan::{
    Action, Flow, LinkId, Pipe, ProxySettings, R2cpSettings, TcpSettings, Traffic, Transport,
};
use prismux_tcp::TcpProfile;
use prismux_units::{ByteCount, Duration, Rate};

fn orders(plan: &Plan) -> Orders<'_> {
    Orders::new(plan, Seed(1)).unwrap()
}

fn connect(plan: &mut Plan, links: &[(&str, &str, &str)]) {
    for (name, a, b) in links {
        let ends = [a, b].map(|name| plan.node_named(name).unwrap());
        plan.symmetric_link(name, ends, LinkConfig::default());
    }
}

/// A server, a proxy, two members and a receiver, and a flow that the proxy takes over.
fn bond() -> Plan {
    let mut plan = Plan::new("bond", Duration::from_secs(1));
    let server = plan.host("server");
    plan.prism_proxy("proxy", ProxySettings::default());
    plan.member("m1");
    plan.member("m2");
    let receiver = plan.host("receiver");
    let links = [
        ("backbone", "server", "proxy"),
        ("wwan1", "proxy", "m1"),
        ("wwan2", "proxy", "m2"),
        ("wlan1", "m1", "receiver"),
        ("wlan2", "m2", "receiver"),
    ];
    connect(&mut plan, &links);
    plan.flow(Flow::new("f", server, receiver, Transport::Tcp));
    plan
}

/// The same network with the flow as `change` makes it.
fn bond_with(change: impl FnOnce(&Plan, Flow) -> Flow) -> Plan {
    let mut plan = bond();
    plan.flows[0] = change(&plan, plan.flows[0].clone());
    plan
}

fn first_path(plan: &Plan) -> (Topology, Path) {
    let orders = orders(plan);
    let mut topology = Topology::new(&orders).unwrap();
    let path = topology.paths(&orders.flows[0]).unwrap().swap_remove(0);
    (topology, path)
}

/// Follows the main tables from `from` and returns the names of the links that a packet takes.
fn links_taken(plan: &Plan, topology: &Topology, from: &str, to: Ipv4Addr) -> Vec<String> {
    let (mut at, mut taken) = (topology.node(from).unwrap(), Vec::new());
    while !topology.nodes[at].addresses.contains(&to) {
        let routes = &topology.nodes[at].routes;
        let route =
            routes.iter().find(|route| route.table == MAIN_TABLE && route.destination == Some(to)).unwrap();
        let port = &topology.nodes[at].ports[route.port];
        taken.push(plan.links[port.link].name.clone());
        at = port.neighbour;
        assert!(taken.len() < 10, "a loop: {taken:?}");
    }
    taken
}

#[test]
fn a_path_through_a_member_takes_its_links_and_no_other() {
    for (member, links) in [("m1", ["backbone", "wwan1", "wlan1"]), ("m2", ["backbone", "wwan2", "wlan2"])] {
        let plan = bond_with(|plan, flow| flow.via(plan.node_named(member).unwrap()));
        let (topology, path) = first_path(&plan);
        assert_eq!(links_taken(&plan, &topology, "server", path.address), links);
        // The way back leaves the receiver by the member's link.
        let receiver = &topology.nodes[topology.node("receiver").unwrap()];
        let (_, table) = *receiver.rules.iter().find(|(from, _)| *from == path.address).unwrap();
        let back = receiver.routes.iter().find(|route| route.table == table).unwrap();
        assert_eq!(plan.links[receiver.ports[back.port].link].name, links[2]);
        let server = topology.address(topology.node("server").unwrap());
        assert_eq!(links_taken(&plan, &topology, member, server), [links[1], "backbone"]);
    }
}

#[test]
fn the_way_back_through_a_member_holds_on_every_node_before_it() {
    // A shared medium: the receiver has one link, the members are behind it.
    let mut plan = Plan::new("air", Duration::from_secs(1));
    let server = plan.host("server");
    plan.prism_proxy("proxy", ProxySettings::default());
    plan.member("m1");
    let m2 = plan.member("m2");
    plan.router("air");
    let receiver = plan.host("receiver");
    let links = [
        ("backbone", "server", "proxy"),
        ("wwan1", "proxy", "m1"),
        ("wwan2", "proxy", "m2"),
        ("wlan1", "m1", "air"),
        ("wlan2", "m2", "air"),
        ("radio", "air", "receiver"),
    ];
    connect(&mut plan, &links);
    plan.flow(Flow::new("f", server, receiver, Transport::Tcp).via(m2));
    let (topology, path) = first_path(&plan);
    let air = &topology.nodes[topology.node("air").unwrap()];
    assert!(air.rules.contains(&(path.address, path.table)));
    let back = air.routes.iter().find(|route| route.table == path.table).unwrap();
    assert_eq!(plan.links[air.ports[back.port].link].name, "wlan2");
}

#[test]
fn mptcp_gets_a_path_through_each_member() {
    let plan = bond_with(|_, flow| Flow {
        transport: Transport::Mptcp(prismux_plan::MptcpSettings::DEFAULT),
        ..flow
    });
    let orders = orders(&plan);
    let mut topology = Topology::new(&orders).unwrap();
    let paths = topology.paths(&orders.flows[0]).unwrap();
    let members: Vec<_> = paths.iter().map(|path| path.member.unwrap()).collect();
    assert_eq!(members, [topology.node("m1").unwrap(), topology.node("m2").unwrap()]);
    assert_ne!(paths[0].address, paths[1].address);
}

#[test]
fn a_proxy_takes_over_what_passes_it_and_one_of_its_members() {
    let (topology, path) = first_path(&bond());
    let [server, proxy, m1, m2] = ["server", "proxy", "m1", "m2"].map(|name| topology.node(name).unwrap());
    assert_eq!(path.proxy, Some(proxy));
    // Up to the proxy by routes, from there on by the daemon, from the members on by routes again.
    let routed = |node: NodeIndex| {
        topology.nodes[node].routes.iter().any(|route| route.destination == Some(path.address))
    };
    assert_eq!([server, proxy, m1, m2].map(routed), [true, false, true, true]);
    // Background load to a member itself is none of the proxy's business.
    let traffic = Traffic::Cbr { rate: Rate::from_mbps(1), packet: ByteCount::new(1000) };
    let to_member = |plan: &Plan, flow: Flow| {
        let to = plan.node_named("m1").unwrap();
        Flow { to, transport: Transport::Udp, traffic, ..flow }
    };
    assert_eq!(first_path(&bond_with(to_member)).1.proxy, None);
}

#[test]
fn acks_return_through_a_member_that_is_there() {
    let (topology, path) = first_path(&bond());
    let [m1, m2] = ["m1", "m2"].map(|name| topology.node(name).unwrap());
    assert_eq!(topology.return_member(&path, |_| true), Some(m1));
    assert_eq!(topology.return_member(&path, |member| member == m2), Some(m2));
    assert_eq!(topology.return_member(&path, |_| false), None);
}

#[test]
fn flows_that_end_at_one_node_must_agree_about_its_kernel() {
    let mut plan = bond();
    let era = TcpSettings::profile(TcpProfile::Linux24);
    plan.flow(Flow { name: "g".into(), ..plan.flows[0].clone() }.tcp(era));
    let error = Topology::new(&orders(&plan)).unwrap_err().to_string();
    assert!(error.contains("\"f\" and \"g\"") || error.contains("\"g\" and \"f\""), "{error}");
    assert!(error.contains("node \"server\""), "{error}");
}

#[test]
fn asking_twice_for_a_path_makes_one_address() {
    let plan = bond_with(|plan, flow| flow.via(plan.node_named("m2").unwrap()));
    let orders = orders(&plan);
    let mut topology = Topology::new(&orders).unwrap();
    let flow = &orders.flows[0];
    assert_eq!(topology.paths(flow).unwrap(), topology.paths(flow).unwrap());
    assert_eq!(topology.nodes[4].addresses.len(), 2);
}

#[test]
fn addresses_are_never_used_twice() {
    let mut plan = Plan::new("star", Duration::from_secs(1));
    let hub = plan.router("hub");
    for index in 0..300 {
        let name = format!("n{index}");
        let ends = [hub, plan.host(&name)];
        plan.symmetric_link(&name, ends, LinkConfig::default());
    }
    let topology = Topology::new(&orders(&plan)).unwrap();
    let own = topology.nodes.iter().flat_map(|node| node.addresses.iter().copied());
    let mut all: Vec<_> =
        own.chain(topology.nodes.iter().flat_map(|node| node.ports.iter().map(|port| port.local))).collect();
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count);
}

#[test]
fn a_bad_plan_says_what_is_wrong_with_it() {
    let error = |plan: &Plan| Orders::new(plan, Seed(1)).err().unwrap().to_string();
    let mut twice = bond();
    twice.host("m1");
    assert!(error(&twice).contains("two nodes are called \"m1\""), "{}", error(&twice));
    let mut island = bond();
    island.flows[0].to = island.host("island");
    let said = error(&island);
    assert!(
        said.contains("no links lead from \"server\" to \"island\"") && said.contains("remedy"),
        "{said}"
    );
    let mut elsewhere = bond();
    elsewhere.flows[0].to = NodeId::new(99);
    assert!(error(&elsewhere).contains("a node that the plan does not have"), "{}", error(&elsewhere));
}

/// Two stations before the server, and one link of the client to each; the second pipe is tied to `link`.
fn stations(link: &str) -> Plan {
    let mut plan = Plan::new("stations", Duration::from_secs(1));
    let server = plan.host("server");
    plan.router("s1");
    plan.router("s2");
    let client = plan.host("client");
    let links = [
        ("lan1", "server", "s1"),
        ("lan2", "server", "s2"),
        ("wlan1", "s1", "client"),
        ("wlan2", "s2", "client"),
    ];
    connect(&mut plan, &links);
    let link: Option<LinkId> = plan.link_named(link);
    let pipes = vec![Pipe::new("first", server), Pipe { link, ..Pipe::new("second", server) }];
    let settings = R2cpSettings { pipes, ..R2cpSettings::DEFAULT };
    plan.flow(Flow::new("download", server, client, Transport::R2cp(settings)));
    plan
}

#[test]
fn a_pipe_leaves_by_its_interface_and_is_answered_over_the_same_links() {
    let plan = stations("wlan2");
    let topology = Topology::new(&orders(&plan)).unwrap();
    let client = &topology.nodes[topology.node("client").unwrap()];
    for (port, links) in [(0, ["lan1", "wlan1"]), (1, ["lan2", "wlan2"])] {
        let (_, table) = *client.port_rules.iter().find(|(of, _)| *of == port).unwrap();
        let out = client.routes.iter().find(|route| route.table == table).unwrap();
        let own = client.ports[port].local;
        assert_eq!((out.port, out.destination, out.source), (port, None, Some(own)));
        // Answers go to the interface's address; its neighbour has the link itself.
        let server = &topology.nodes[topology.node("server").unwrap()];
        let back = server.routes.iter().find(|route| route.destination == Some(own)).unwrap();
        assert_eq!(plan.links[server.ports[back.port].link].name, links[0]);
        assert_eq!(plan.links[client.ports[port].link].name, links[1]);
    }
}

#[test]
fn a_pipe_over_a_link_of_its_server_is_refused() {
    let error = Orders::new(&stations("lan1"), Seed(1)).err().unwrap().to_string();
    assert!(error.contains("link \"lan1\" of its server") && error.contains("second"), "{error}");
    assert!(error.contains("remedy"), "{error}");
}

/// A server behind a router, and a mobile host with a link to each of two access points.
fn mobile(flow: impl FnOnce(NodeId, NodeId, &Plan) -> Flow) -> Plan {
    let mut plan = Plan::new("mobile", Duration::from_secs(1));
    let (server, mobile) = (plan.host("server"), plan.host("mobile"));
    for name in ["ap1", "ap2", "core"] {
        plan.router(name);
    }
    let links = [
        ("wlan", "ap1", "mobile"),
        ("cell", "ap2", "mobile"),
        ("lan1", "core", "ap1"),
        ("lan2", "core", "ap2"),
        ("wan", "server", "core"),
    ];
    connect(&mut plan, &links);
    let flow = flow(server, mobile, &plan);
    plan.flow(flow);
    plan
}

/// The layout after a handoff to the link called `to`.
fn handed_over(plan: &Plan, to: &str) -> Topology {
    let mut topology = Topology::new(&orders(plan)).unwrap();
    let mobile = topology.node("mobile").unwrap();
    for (node, new) in topology.hand_over(mobile, plan.link_named(to).unwrap().index()) {
        let routes = &mut topology.nodes[node].routes;
        routes.retain(|route| (route.table, route.destination) != (new.table, new.destination));
        routes.push(new);
    }
    topology
}

#[test]
fn a_handoff_turns_both_ways_and_hosts_do_not_forward() {
    let plan = mobile(|server, mobile, _| Flow::new("f", server, mobile, Transport::Tcp));
    let address = |topology: &Topology, name| topology.address(topology.node(name).unwrap());
    for (to, lan) in [("wlan", "lan1"), ("cell", "lan2")] {
        let topology = handed_over(&plan, to);
        let (server, mobile) = (address(&topology, "server"), address(&topology, "mobile"));
        assert_eq!(links_taken(&plan, &topology, "server", mobile), ["wan", lan, to]);
        assert_eq!(links_taken(&plan, &topology, "mobile", server), [to, lan, "wan"]);
        // The access point that was left goes by the core, not through the host.
        let (left, its_lan) = if to == "wlan" { ("ap2", "lan2") } else { ("ap1", "lan1") };
        assert_eq!(links_taken(&plan, &topology, left, mobile), [its_lan, lan, to]);
    }
}

#[test]
fn a_handoff_of_a_host_with_pipes_of_its_own_is_refused() {
    let mut plan = mobile(|server, mobile, plan| {
        let link = plan.link_named("wlan");
        let settings = R2cpSettings {
            pipes: vec![Pipe { link, ..Pipe::new("first", server) }],
            ..R2cpSettings::DEFAULT
        };
        Flow::new("download", server, mobile, Transport::R2cp(settings))
    });
    let (host, link) = (plan.node_named("mobile").unwrap(), plan.link_named("cell"));
    plan.event(Duration::from_millis(500), Action::Handoff { host, link, bandwidth: None });
    let error = Topology::new(&orders(&plan)).err().unwrap().to_string();
    assert!(error.contains("\"mobile\" hands over") && error.contains("remedy"), "{error}");
}
