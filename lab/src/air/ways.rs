//! The kernels' routes to stations of cells and from them, which turn while the air works.
use crate::LabError;
use crate::topology::{Access, MAIN_TABLE, Topology, Turn, gates_of};
use prismux_linux::namespace::Namespace;
use prismux_linux::netlink::{self, Netlink, Route};
use prismux_plan::{Medium, Plan};
use prismux_trace::event::{Event, EventSink, SharedLog};
use prismux_units::Instant;
use prismux_wireless::HostId;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;

/// The routes of one node that turn together.
type NodeRoutes = (usize, Vec<Route>);

/// What turns when a station of a medium is attached otherwise.
#[derive(Default)]
pub(super) struct Ways {
    /// A netlink socket in the namespace of each node.
    sockets: Vec<Netlink>,
    /// By station and base station; without a base station, the station's other link.
    routes: BTreeMap<(HostId, Option<HostId>), Vec<NodeRoutes>>,
    /// The names of the hosts of the medium, in order.
    names: Vec<String>,
    events: Option<SharedLog>,
}

impl Ways {
    /// All that may turn on `medium`: nothing where it has no cells.
    ///
    /// # Errors
    /// When a namespace cannot be entered, or a device is not there.
    pub fn new(
        plan: &Plan,
        medium: &Medium,
        topology: &Topology,
        namespaces: &[Namespace],
        events: Option<SharedLog>,
    ) -> Result<Self, LabError> {
        let Some(gates) = gates_of(medium) else { return Ok(Self::default()) };
        let mut sockets = Vec::with_capacity(namespaces.len());
        let mut devices = Vec::with_capacity(namespaces.len());
        for (node, namespace) in namespaces.iter().enumerate() {
            let net = &topology.nodes[node];
            let names = net.ports.iter().map(|port| &port.device);
            let names: Vec<&String> = names.chain(net.radio.iter().map(|port| &port.device)).collect();
            let failed =
                || LabError::setup(format!("prepare the routes of node \"{}\"", topology.name(node)));
            let look = || -> io::Result<(Netlink, BTreeMap<String, u32>)> {
                let index = |name: &&String| Ok(((*name).clone(), netlink::device_index(name)?));
                Ok((Netlink::route()?, names.iter().map(index).collect::<io::Result<_>>()?))
            };
            let (socket, found) = namespace.enter(look).map_err(failed())?.map_err(failed())?;
            sockets.push(socket);
            devices.push(found);
        }
        let numbers: Vec<_> = medium.attached.iter().zip((0..).map(HostId)).collect();
        let mut routes = BTreeMap::new();
        for (station, host) in &numbers {
            if gates.nodes.contains(station) {
                continue;
            }
            let bases = numbers.iter().filter(|(node, _)| gates.nodes.contains(node));
            let air = bases.map(|(base, number)| (Some(*number), Access::BaseStation(base.index())));
            let wire = gates.fallback_of(**station).map(|link| (None, Access::Link(link)));
            for (number, access) in air.chain(wire) {
                let turns = topology.attach(station.index(), access);
                routes.insert((*host, number), by_node(topology, &devices, turns));
            }
        }
        let names = medium.attached.iter().map(|node| plan[*node].name.clone()).collect();
        Ok(Self { sockets, routes, names, events })
    }

    /// A station belongs to the second base station instead of the first, by this channel where base stations have
    /// several.
    ///
    /// # Errors
    /// When a kernel refuses a route.
    pub fn turn(
        &mut self,
        at: Instant,
        station: HostId,
        [from, to]: [Option<HostId>; 2],
        channel: Option<u8>,
    ) -> io::Result<()> {
        if from != to {
            self.lead_over(station, to)?;
        }
        let channel = channel.map(u64::from);
        self.tell(at, station, [from, to], |node, from, to| Event::CellChanged { node, from, to, channel });
        Ok(())
    }

    /// A station that hears no base station goes over the second station instead of the first, and by `base`.
    ///
    /// # Errors
    /// When a kernel refuses a route.
    pub fn turn_behind(
        &mut self,
        at: Instant,
        station: HostId,
        [from, to]: [Option<HostId>; 2],
        base: Option<HostId>,
    ) -> io::Result<()> {
        if base.is_some() {
            self.lead_over(station, base)?;
        }
        if from != to {
            self.tell(at, station, [from, to], |node, from, to| Event::GatewayChanged { node, from, to });
        }
        Ok(())
    }

    /// Turns the routes of a station and those to it.
    fn lead_over(&mut self, station: HostId, access: Option<HostId>) -> io::Result<()> {
        for (node, routes) in self.routes.get(&(station, access)).into_iter().flatten() {
            let messages = routes.iter().map(Route::message).collect();
            self.sockets[*node].send(messages).map_err(|error| error.source)?;
        }
        Ok(())
    }

    /// Tells the log of the run, if there is one.
    fn tell<'a>(
        &'a mut self,
        at: Instant,
        station: HostId,
        [from, to]: [Option<HostId>; 2],
        event: impl Fn(Cow<'a, str>, Option<Cow<'a, str>>, Option<Cow<'a, str>>) -> Event<'a>,
    ) {
        let names = &self.names;
        let name = |host: HostId| Cow::from(names[host.0 as usize].as_str());
        if let Some(log) = &mut self.events {
            log.event(at, &event(name(station), from.map(name), to.map(name)));
        }
    }
}

/// Routes as the kernels take them, all of a node together.
fn by_node(topology: &Topology, devices: &[BTreeMap<String, u32>], turns: Vec<Turn>) -> Vec<NodeRoutes> {
    let mut by_node: BTreeMap<usize, Vec<Route>> = BTreeMap::new();
    for Turn { node, destination, device } in turns {
        let Some(&device) = devices[node].get(&device) else { continue };
        by_node.entry(node).or_default().push(Route {
            table: MAIN_TABLE,
            destination: Some(destination),
            device,
            source: Some(topology.address(node)),
            metrics: topology.nodes[node].tcp.route_metrics(),
        });
    }
    by_node.into_iter().collect()
}
