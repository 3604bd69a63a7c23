//! From paper to kernel: namespaces, TUN devices, addresses, routes.
use crate::LabError;
use crate::sysctl;
use crate::topology::{MAIN_TABLE, NodeNet, Topology};
use prismux_linux::namespace::Namespace;
use prismux_linux::netlink::{self, Netlink, RouteMetrics};
use prismux_linux::offload::OffloadTun;
use prismux_linux::tun::Tun;
use prismux_plan::{Medium, NodeId, Plan};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// MTU of every link in bytes.
pub const LINK_MTU_BYTES: u32 = 1500;

/// Packets that may wait in a TUN device for the emulator: 48 ms of 1 Gbit/s in full packets, far more than it needs
/// to wake, so that packets are dropped by the link model and nowhere else.
const DEVICE_QUEUE_PACKETS: u32 = 4000;

/// Priority of the rules that tie an address to its path: before the main table's.
const RULE_PRIORITY: u32 = 1000;

/// The kernel's side of a lab.
#[derive(Debug)]
pub(super) struct Fabric {
    /// One for each node, in the plan's order.
    pub namespaces: Vec<Namespace>,
    /// For each link the devices at its ends `a` and `b`, in the plan's order.
    pub devices: Vec<(OffloadTun, OffloadTun)>,
    /// For each medium the devices of its hosts, in the plan's order; `None` for one that is a daemon's to be.
    pub radios: Vec<Vec<Option<Tun>>>,
    /// Devices of senders that are not the kernel's, by address.
    pub own_senders: BTreeMap<Ipv4Addr, Tun>,
}

/// A node's devices.
struct NodeDevices {
    /// In the order of the node's ports.
    links: Vec<OffloadTun>,
    /// In the order of the node's radio ports.
    radios: Vec<Option<Tun>>,
    own_senders: Vec<(Ipv4Addr, Tun)>,
}

impl Fabric {
    /// Builds the network on paper.
    ///
    /// # Errors
    /// What the kernel refused, and for which node or link.
    pub fn build(plan: &Plan, topology: &Topology) -> Result<Self, LabError> {
        let mut namespaces = Vec::with_capacity(plan.nodes.len());
        let mut own_senders = BTreeMap::new();
        let mut radios: BTreeMap<(usize, NodeId), Option<Tun>> = BTreeMap::new();
        // Each link's device at the end met first, until the other one is there too.
        let mut first_ends: BTreeMap<usize, OffloadTun> = BTreeMap::new();
        let mut devices: BTreeMap<usize, (OffloadTun, OffloadTun)> = BTreeMap::new();
        for ((id, node), net) in plan.node_ids().zip(&plan.nodes).zip(&topology.nodes) {
            let namespace = Namespace::create()?;
            let made = namespace
                .enter(|| {
                    sysctl::apply(&net.tcp, &node.name)?;
                    if net.changes_links {
                        sysctl::accept_own(&node.name)?;
                    }
                    configure(&node.name, net)
                })
                .map_err(LabError::setup(format!("enter the namespace of node \"{}\"", node.name)))??;
            for (port, tun) in net.ports.iter().zip(made.links) {
                match first_ends.remove(&port.link) {
                    None => drop(first_ends.insert(port.link, tun)),
                    Some(other) if plan.links[port.link].ends[0] == id => {
                        devices.insert(port.link, (tun, other));
                    }
                    Some(other) => drop(devices.insert(port.link, (other, tun))),
                }
            }
            let on_air = net.radio.iter().zip(made.radios);
            radios.extend(on_air.map(|(port, device)| ((port.medium, id), device)));
            own_senders.extend(made.own_senders);
            namespaces.push(namespace);
        }
        let of_medium = |(index, medium): (usize, &Medium)| {
            medium.attached.iter().filter_map(|node| radios.remove(&(index, *node))).collect()
        };
        let radios = plan.media.iter().enumerate().map(of_medium).collect();
        Ok(Self { namespaces, devices: devices.into_values().collect(), radios, own_senders })
    }
}

/// Makes a node's devices in the namespace of the calling thread and gives them addresses, routes and rules.
fn configure(name: &str, net: &NodeNet) -> Result<NodeDevices, LabError> {
    let doing = |what: &str| LabError::setup(format!("{what} of node \"{name}\""));
    let mut links = Vec::with_capacity(net.ports.len());
    let mut devices = Vec::with_capacity(net.ports.len());
    let loopback = netlink::device_index("lo").map_err(doing("find the loopback device"))?;
    let mut requests = vec![netlink::link_up(loopback)];
    requests.extend(net.addresses.iter().map(|&own| netlink::address(loopback, own, None)));
    for port in &net.ports {
        let tun = OffloadTun::create(&port.device)?;
        let device = netlink::device_index(&port.device).map_err(doing("find the device"))?;
        requests.push(netlink::link_size(device, LINK_MTU_BYTES, DEVICE_QUEUE_PACKETS));
        requests.push(netlink::link_up(device));
        requests.push(netlink::address(device, port.local, Some(port.remote)));
        devices.push(device);
        links.push(tun);
    }
    for route in &net.routes {
        let route = netlink::Route {
            table: route.table,
            destination: route.destination,
            device: devices[route.port],
            source: route.source,
            metrics: net.tcp.route_metrics(),
        };
        requests.push(route.message());
    }
    requests.extend(net.rules.iter().map(|&(from, table)| netlink::rule_from(from, table, RULE_PRIORITY)));
    requests.extend(
        net.port_rules
            .iter()
            .map(|&(port, table)| netlink::rule_out_of(&net.ports[port].device, table, RULE_PRIORITY)),
    );
    let radios = make_radios(net, doing, &mut requests)?;
    let mut own_senders = Vec::new();
    for (name, own) in &net.own_senders {
        let tun = Tun::create(name)?;
        let device = netlink::device_index(name).map_err(doing("find the device"))?;
        requests.push(netlink::link_size(device, LINK_MTU_BYTES, DEVICE_QUEUE_PACKETS));
        requests.push(netlink::link_up(device));
        let (destination, metrics) = (Some(*own), RouteMetrics::default());
        requests
            .push(netlink::Route { table: MAIN_TABLE, destination, device, source: None, metrics }.message());
        own_senders.push((*own, tun));
    }
    let socket = Netlink::route().map_err(doing("open a netlink socket"))?;
    socket
        .send(requests)
        .map_err(|error| LabError::setup(format!("{} on node \"{name}\"", error.request))(error.source))?;
    Ok(NodeDevices { links, radios, own_senders })
}

/// Makes a node's devices on radio media, with routes to the other hosts there, and those that may turn.
fn make_radios<F: FnOnce(std::io::Error) -> LabError>(
    net: &NodeNet,
    doing: impl Fn(&str) -> F,
    requests: &mut Vec<netlink::Message>,
) -> Result<Vec<Option<Tun>>, LabError> {
    let mut radios = Vec::new();
    for port in &net.radio {
        let tun = Tun::create(&port.device)?;
        let device = netlink::device_index(&port.device).map_err(doing("find the device"))?;
        requests.push(netlink::link_size(device, LINK_MTU_BYTES, DEVICE_QUEUE_PACKETS));
        requests.push(netlink::link_up(device));
        let source = net.addresses.first().copied();
        let routes = port.others.iter().map(|&other| netlink::Route {
            table: MAIN_TABLE,
            destination: Some(other),
            device,
            source,
            metrics: net.tcp.route_metrics(),
        });
        requests.extend(routes.map(|route| route.message()));
        // With its routes it outlives a daemon that is killed.
        radios.push(match port.protocol {
            Some(_) => {
                tun.leave_behind().map_err(doing("leave the device"))?;
                None
            }
            None => Some(tun),
        });
    }
    for (destination, device) in &net.first_ways {
        let device = netlink::device_index(device).map_err(doing("find the device"))?;
        let (destination, source) = (Some(*destination), net.addresses.first().copied());
        let metrics = net.tcp.route_metrics();
        requests.push(netlink::Route { table: MAIN_TABLE, destination, device, source, metrics }.message());
    }
    Ok(radios)
}
