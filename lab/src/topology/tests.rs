use super::*;
use crate::plan::{self, LabPlan, MemberPlan};
use prismux_link::LinkConfig;
use prismux_units::Duration;

fn bond() -> LabPlan {
    let wire = LinkConfig::default;
    let mut plan = LabPlan::new("bond", 1, Duration::from_secs(1))
        .node("server", Role::Host)
        .node("proxy", Role::Proxy(Box::default()))
        .node("m1", Role::Member(MemberPlan::default()))
        .node("m2", Role::Member(MemberPlan::default()))
        .node("receiver", Role::Host);
    let links = [
        ("backbone", "server", "proxy"),
        ("wwan1", "proxy", "m1"),
        ("wwan2", "proxy", "m2"),
        ("wlan1", "m1", "receiver"),
        ("wlan2", "m2", "receiver"),
    ];
    for (name, a, b) in links {
        plan = plan.link(name, a, b, wire(), wire());
    }
    plan
}

fn tcp() -> FlowPlan {
    FlowPlan::new("f", "server", "receiver", Transport::Tcp)
}

/// Follows the main tables from `from` and returns the names of the links that a packet takes.
fn links_taken(plan: &LabPlan, topology: &Topology, from: &str, to: Ipv4Addr) -> Vec<String> {
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
    let plan = bond();
    let mut topology = Topology::new(&plan).unwrap();
    for (member, links) in [("m1", ["backbone", "wwan1", "wlan1"]), ("m2", ["backbone", "wwan2", "wlan2"])] {
        let path = topology.paths(&tcp().via(member)).unwrap().swap_remove(0);
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
    let wire = LinkConfig::default;
    let mut plan = LabPlan::new("air", 1, Duration::from_secs(1))
        .node("server", Role::Host)
        .node("proxy", Role::Proxy(Box::default()))
        .node("m1", Role::Member(MemberPlan::default()))
        .node("m2", Role::Member(MemberPlan::default()))
        .node("air", Role::Router)
        .node("receiver", Role::Host);
    for (name, a, b) in [
        ("backbone", "server", "proxy"),
        ("wwan1", "proxy", "m1"),
        ("wwan2", "proxy", "m2"),
        ("wlan1", "m1", "air"),
        ("wlan2", "m2", "air"),
        ("radio", "air", "receiver"),
    ] {
        plan = plan.link(name, a, b, wire(), wire());
    }
    let mut topology = Topology::new(&plan).unwrap();
    let path = topology.paths(&tcp().via("m2")).unwrap().swap_remove(0);
    let air = &topology.nodes[topology.node("air").unwrap()];
    assert!(air.rules.contains(&(path.address, path.table)));
    let back = air.routes.iter().find(|route| route.table == path.table).unwrap();
    assert_eq!(plan.links[air.ports[back.port].link].name, "wlan2");
}

#[test]
fn mptcp_gets_a_path_through_each_member() {
    let plan = bond().flow(FlowPlan::new("f", "server", "receiver", Transport::Mptcp));
    let mut topology = Topology::new(&plan).unwrap();
    let paths = topology.paths(&plan.flows[0]).unwrap();
    let members: Vec<_> = paths.iter().map(|path| path.member.unwrap()).collect();
    assert_eq!(members, [topology.node("m1").unwrap(), topology.node("m2").unwrap()]);
    assert_ne!(paths[0].address, paths[1].address);
}

#[test]
fn a_proxy_takes_over_what_passes_it_and_one_of_its_members() {
    let plan = bond().flow(tcp());
    let mut topology = Topology::new(&plan).unwrap();
    let path = topology.paths(&tcp()).unwrap().swap_remove(0);
    let [server, proxy, m1, m2] = ["server", "proxy", "m1", "m2"].map(|name| topology.node(name).unwrap());
    assert_eq!(path.proxy, Some(proxy));
    // Up to the proxy by routes, from there on by the daemon, from the members on by routes again.
    let routed = |node: NodeIndex| {
        topology.nodes[node].routes.iter().any(|route| route.destination == Some(path.address))
    };
    assert_eq!([server, proxy, m1, m2].map(routed), [true, false, true, true]);
    // Background load to a member itself is none of the proxy's business.
    let load = FlowPlan::new("load", "server", "m1", Transport::Udp);
    assert_eq!(topology.paths(&load).unwrap()[0].proxy, None);
}

#[test]
fn acks_return_through_a_member_that_is_there() {
    let plan = bond().flow(tcp());
    let mut topology = Topology::new(&plan).unwrap();
    let path = topology.paths(&tcp()).unwrap().swap_remove(0);
    let [m1, m2] = ["m1", "m2"].map(|name| topology.node(name).unwrap());
    assert_eq!(topology.return_member(&path, |_| true), Some(m1));
    assert_eq!(topology.return_member(&path, |member| member == m2), Some(m2));
    assert_eq!(topology.return_member(&path, |_| false), None);
}

#[test]
fn flows_that_end_at_one_node_must_agree_about_its_kernel() {
    let mut other = tcp().tcp(KernelTcp::linux_24());
    other.name = "g".to_owned();
    let error = Topology::new(&bond().flow(tcp()).flow(other)).unwrap_err().to_string();
    assert!(error.contains("\"f\" and \"g\"") || error.contains("\"g\" and \"f\""), "{error}");
}

#[test]
fn asking_twice_for_a_path_makes_one_address() {
    let mut topology = Topology::new(&bond()).unwrap();
    let flow = tcp().via("m2");
    assert_eq!(topology.paths(&flow).unwrap(), topology.paths(&flow).unwrap());
    assert_eq!(topology.nodes[4].addresses.len(), 2);
}

#[test]
fn addresses_are_never_used_twice() {
    let mut plan = LabPlan::new("star", 1, Duration::from_secs(1)).node("hub", Role::Router);
    for index in 0..300 {
        let name = format!("n{index}");
        plan = plan.node(&name, Role::Host).link(
            &name,
            "hub",
            &name,
            LinkConfig::default(),
            LinkConfig::default(),
        );
    }
    let topology = Topology::new(&plan).unwrap();
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
    let wire = LinkConfig::default;
    let error = |plan: LabPlan| Topology::new(&plan).unwrap_err().to_string();
    assert_eq!(
        error(bond().link("x", "server", "nobody", wire(), wire())),
        "there is no node \"nobody\"; the nodes are server, proxy, m1, m2, receiver"
    );
    assert_eq!(error(bond().node("m1", Role::Host)), "two nodes are called \"m1\"");
    assert_eq!(error(bond().link("wwan1", "m1", "m2", wire(), wire())), "two links are called \"wwan1\"");
    let island =
        bond().node("island", Role::Host).flow(FlowPlan::new("f", "server", "island", Transport::Tcp));
    assert_eq!(error(island), "no links lead from \"server\" to \"island\"");
}

/// Two stations before the server, and one link of the client to each.
fn stations(link: Option<&str>) -> LabPlan {
    let wire = LinkConfig::default;
    let mut plan = LabPlan::new("stations", 1, Duration::from_secs(1));
    for (name, role) in
        [("server", Role::Host), ("s1", Role::Router), ("s2", Role::Router), ("client", Role::Host)]
    {
        plan = plan.node(name, role);
    }
    for (name, a, b) in [
        ("lan1", "server", "s1"),
        ("lan2", "server", "s2"),
        ("wlan1", "s1", "client"),
        ("wlan2", "s2", "client"),
    ] {
        plan = plan.link(name, a, b, wire(), wire());
    }
    let pipe = |name: &str, link: Option<&str>| plan::PipePlan {
        name: name.to_owned(),
        server: "server".to_owned(),
        link: link.map(str::to_owned),
        cost: 0,
        opens: prismux_units::Instant::ZERO,
        closes: None,
        drops: None,
    };
    let pipes = vec![pipe("first", None), pipe("second", link)];
    let mut flow = FlowPlan::new("download", "server", "client", Transport::Fetch);
    flow.fetch = Some(Box::new(plan::FetchPlan { pipes, ..plan::FetchPlan::default() }));
    plan.flow(flow)
}

#[test]
fn a_pipe_leaves_by_its_interface_and_is_answered_over_the_same_links() {
    let plan = stations(Some("wlan2"));
    let topology = Topology::new(&plan).unwrap();
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
fn a_pipe_over_a_link_of_somebody_else_is_an_error() {
    let error = Topology::new(&stations(Some("lan1"))).unwrap_err().to_string();
    assert!(error.contains("no link of \"client\"") && error.contains("second"), "{error}");
}
