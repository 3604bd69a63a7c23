//! A plan as it is filled and looked at.
use prismux_link::LinkConfig;
use prismux_plan::{
    Action, Direction, Directions, Flow, IpFamily, MediumModel, NodeId, Plan, ProxySettings, Transport,
    Tunnel,
};
use prismux_units::{ByteCount, Duration, Rate};

fn wire(delay_ms: u64) -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(10), Duration::from_millis(delay_ms))
}

/// `server` - `proxy` - `m1`, `m2` - `receiver`.
fn community() -> Plan {
    let mut plan = Plan::new("community", Duration::from_secs(10));
    let (server, proxy) = (plan.host("server"), plan.prism_proxy("proxy", ProxySettings::default()));
    let (m1, m2, receiver) = (plan.member("m1"), plan.member("m2"), plan.host("receiver"));
    for (name, ends) in [
        ("backbone", [server, proxy]),
        ("wwan1", [proxy, m1]),
        ("wwan2", [proxy, m2]),
        ("wlan1", [m1, receiver]),
        ("wlan2", [m2, receiver]),
    ] {
        plan.symmetric_link(name, ends, wire(5));
    }
    plan.flow(Flow::new("download", server, receiver, Transport::Tcp));
    plan
}

#[test]
fn tunnels_cost_what_their_headers_take() {
    // Outer IP header, UDP header, GRE header without options (RFC 2784, RFC 8086).
    for (tunnel, v4, v6) in
        [(Tunnel::Gre, 20 + 4, 40 + 4), (Tunnel::GreInUdp, 20 + 8 + 4, 40 + 8 + 4), (Tunnel::Free, 0, 0)]
    {
        assert_eq!(IpFamily::ALL.map(|family| tunnel.overhead_bytes(family)), [v4, v6], "{tunnel:?}");
    }
}

#[test]
fn capacity_counts_tunnels_only_where_they_cross_a_link_that_counts() {
    let mut plan = community();
    assert_eq!(plan.counted_tunnel_bytes(IpFamily::V4), 24);
    // Upstream the links that count are behind the members.
    for link in &mut plan.links {
        link.shared = link.name.starts_with("wlan");
    }
    assert_eq!((plan.counted_tunnel_bytes(IpFamily::V4), plan.tunnel_bytes(IpFamily::V4)), (0, 24));
    plan.links[2].shared = true;
    assert_eq!(plan.counted_tunnel_bytes(IpFamily::V4), 24, "one is enough");
}

#[test]
fn links_between_proxy_and_member_count_as_capacity() {
    let plan = community();
    let names: Vec<&str> = plan.shared_links().into_iter().map(|link| plan[link].name.as_str()).collect();
    assert_eq!(names, ["wwan1", "wwan2"]);
}

#[test]
fn a_proxy_takes_over_tcp_that_leaves_through_a_member() {
    let plan = community();
    let proxy = plan.node_named("proxy").unwrap();
    let flow = &plan.flows[0];
    assert_eq!(plan.proxy_of(flow), Some(proxy));
    assert_eq!(plan.proxy_of(&flow.clone().via(plan.node_named("m2").unwrap())), None);
    assert_eq!(plan.proxy_of(&Flow { transport: Transport::Udp, ..flow.clone() }), None);
    // To the member itself nothing leads through it.
    assert_eq!(plan.proxy_of(&Flow { to: plan.node_named("m1").unwrap(), ..flow.clone() }), None);
}

#[test]
fn hosts_do_not_forward() {
    let mut plan = community();
    let [m1, m2] = ["m1", "m2"].map(|name| plan.node_named(name).unwrap());
    let names = |plan: &Plan, path: Option<Vec<NodeId>>| -> Vec<String> {
        path.into_iter().flatten().map(|node| plan[node].name.clone()).collect()
    };
    // Through the proxy, not through the receiver, which is as near.
    assert_eq!(names(&plan, plan.shortest_path(m1, m2)), ["m1", "proxy", "m2"]);
    let receiver = plan.node_named("receiver").unwrap();
    let (beyond, island) = (plan.host("beyond"), plan.host("island"));
    plan.symmetric_link("tether", [receiver, beyond], wire(1));
    assert_eq!(plan.shortest_path(m1, beyond), None);
    assert_eq!(plan.shortest_path(m1, island), None);
    // Over a shared medium everybody is next to everybody, but hosts still pass nothing on.
    plan.medium("bus", &[m2, beyond, island], MediumModel::Bus(wire(1)));
    assert_eq!(names(&plan, plan.shortest_path(m1, island)), ["m1", "proxy", "m2", "island"]);
    assert_eq!(names(&plan, plan.shortest_path(beyond, island)), ["beyond", "island"]);
}

#[test]
fn events_keep_the_order_of_time_and_of_making() {
    let mut plan = community();
    let [m1, m2] = ["m1", "m2"].map(|name| plan.node_named(name).unwrap());
    for (at, action) in [(2, Action::Leave(m1)), (1, Action::Leave(m2)), (2, Action::Join(m2))] {
        plan.event(Duration::from_secs(at), action);
    }
    let actions: Vec<Action> = plan.events.iter().map(|event| event.action).collect();
    assert_eq!(actions, [Action::Leave(m2), Action::Leave(m1), Action::Join(m2)]);
}

#[test]
fn a_queue_in_bandwidth_delay_products_counts_both_directions() {
    let mut plan = Plan::new("two hosts", Duration::from_secs(1));
    let ends = [plan.host("a"), plan.host("b")];
    let link = plan.link("wire", ends, wire(20), wire(5));
    assert_eq!(plan[link].round_trip(), Duration::from_millis(25));
    for direction in [Direction::Forward, Direction::Reverse] {
        let config = &plan[link].direction(direction).link;
        assert_eq!(config.bdp_round_trip, Some(Duration::from_millis(25)), "{direction:?}");
        assert!(Directions::Both.include(direction));
    }
    assert!(!Directions::Forward.include(Direction::Reverse));
}

#[test]
fn a_run_is_over_when_all_its_files_are_there() {
    let mut plan = community();
    assert!(!plan.ends_by_itself());
    plan.flows[0] = plan.flows[0].clone().bytes(ByteCount::new(1000));
    assert!(plan.ends_by_itself());
    let load = Flow { name: "load".into(), transport: Transport::Udp, ..Flow::clone(&plan.flows[0]) };
    plan.flow(load);
    assert!(plan.ends_by_itself());
}
