//! A planned network without flows of its own: for programs of any kind, run inside its namespaces.
use crate::air::{AirThread, Station};
use crate::emulator::{EmulatedLink, Emulator, EmulatorReport, Recording};
use crate::fabric::Fabric;
use crate::mptcp::{MptcpEndpoint, PathManager};
use crate::orders::Orders;
use crate::timing::RunEnd;
use crate::topology::Topology;
use crate::{LabError, topology};
use prismux_endpoint::random::Seed;
use prismux_linux::clock::Clock;
use prismux_linux::namespace::Namespace;
use prismux_plan::Plan;
use std::net::Ipv4Addr;

/// Namespaces joined by emulated links; everything goes when it is dropped.
pub struct LabNetwork {
    topology: Topology,
    namespaces: Vec<Namespace>,
    emulator: Emulator,
    /// Radio media; they work as long as this.
    _airs: Vec<AirThread>,
}

impl LabNetwork {
    /// Builds the nodes and links of `plan` and lets the links work; all random streams follow from `seed`. Flows and
    /// events are left out.
    ///
    /// # Errors
    /// As for [`crate::run`].
    pub fn build(plan: &Plan, seed: Seed) -> Result<Self, LabError> {
        let orders = Orders::new(plan, seed)?;
        let topology = Topology::new(&orders)?;
        let Fabric { namespaces, devices, radios, .. } = Fabric::build(plan, &topology)?;
        let (links, end) = (EmulatedLink::of_plan(plan, devices), RunEnd::open());
        let emulator = Emulator::start(links, seed, Recording::default(), end.clone())?;
        let clock = Clock::start();
        emulator.begin(clock);
        let (stations, routers) = Station::of_plan(plan, &topology, radios)?;
        if let Some(router) = routers.first() {
            let medium = &plan.media[router.medium].name;
            return Err(LabError::Layout(format!("medium \"{medium}\": routing daemons need a whole run")));
        }
        let _airs =
            AirThread::start_all(&orders, stations, (&topology, &namespaces[..]), None, (clock, &end))?;
        Ok(Self { topology, namespaces, emulator, _airs })
    }

    /// The namespace of a node.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn namespace(&self, node: &str) -> Result<&Namespace, LabError> {
        Ok(&self.namespaces[self.topology.node(node)?])
    }

    /// A node's own address, which all others have a route to.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn address(&self, node: &str) -> Result<Ipv4Addr, LabError> {
        Ok(self.topology.address(self.topology.node(node)?))
    }

    /// A node's interfaces and their addresses, in the order of its links.
    ///
    /// # Errors
    /// When there is no such node.
    pub fn interfaces(&self, node: &str) -> Result<Vec<(String, Ipv4Addr)>, LabError> {
        let ports: &[topology::Port] = &self.topology.nodes[self.topology.node(node)?].ports;
        Ok(ports.iter().map(|port| (port.device.clone(), port.local)).collect())
    }

    /// Lets MPTCP connections of a node have subflows from these addresses too.
    ///
    /// # Errors
    /// When the kernel has no MPTCP.
    pub fn allow_subflows(&self, node: &str, from: &[Ipv4Addr]) -> Result<(), LabError> {
        let allowed = self.namespace(node)?.enter(|| {
            let manager = PathManager::open()?;
            manager.allow_subflows()?;
            let endpoints = (1..).zip(from).map(|(id, &address)| MptcpEndpoint { id, address });
            endpoints.into_iter().try_for_each(|endpoint| manager.add(endpoint))
        });
        let doing = || LabError::setup(format!("allow subflows of MPTCP on node \"{node}\""));
        allowed.map_err(doing())?.map_err(|error| doing()(error.source))
    }

    /// Takes the links down and says what they carried.
    ///
    /// # Errors
    /// When the emulator failed meanwhile.
    pub fn finish(self) -> Result<EmulatorReport, LabError> {
        self.emulator.finish()
    }
}
