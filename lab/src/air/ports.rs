//! What a station's packets come by: its device, or the socket to its routing daemon.
use crate::LabError;
use crate::topology::{NodeIndex, Topology};
use prismux_daemons::route::air::MessageSocket;
use prismux_linux::tun::Tun;
use prismux_plan::{Medium, NodeId, Plan};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};

/// What a station's packets come by.
#[derive(Debug)]
pub(crate) enum Port {
    /// The device of its kernel.
    Kernel(Tun),
    /// Its routing daemon, which has the device.
    Daemon(MessageSocket),
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Kernel(device) => device.as_fd(),
            Self::Daemon(socket) => socket.as_fd(),
        }
    }
}

/// A host of an air: its name, its address and its port.
pub(crate) struct Station {
    pub name: String,
    pub address: Ipv4Addr,
    pub port: Port,
}

/// The other end of the socket of a host with a routing daemon.
pub(crate) struct DaemonEnd {
    pub node: NodeIndex,
    /// Index of the medium in the plan.
    pub medium: usize,
    pub socket: MessageSocket,
}

impl Station {
    /// The hosts of each medium of a plan, with these devices; those without one have daemons, whose ends of the
    /// sockets come too.
    ///
    /// # Errors
    /// When the kernel has no descriptor left.
    pub fn of_plan(
        plan: &Plan,
        topology: &Topology,
        radios: Vec<Vec<Option<Tun>>>,
    ) -> Result<(Vec<Vec<Self>>, Vec<DaemonEnd>), LabError> {
        let mut ends = Vec::new();
        let mut stations = Vec::new();
        for (medium, (model, devices)) in plan.media.iter().zip(radios).enumerate() {
            let mut of_medium = Vec::new();
            for (node, device) in attached(model).zip(devices) {
                let port = match device {
                    Some(device) => Port::Kernel(device),
                    None => {
                        let failed = LabError::setup("make a socket for a routing daemon");
                        let (air, socket) = MessageSocket::pair().map_err(failed)?;
                        ends.push(DaemonEnd { node, medium, socket });
                        Port::Daemon(air)
                    }
                };
                let (name, address) = (topology.name(node).to_owned(), topology.address(node));
                of_medium.push(Self { name, address, port });
            }
            stations.push(of_medium);
        }
        Ok((stations, ends))
    }
}

fn attached(medium: &Medium) -> impl Iterator<Item = NodeIndex> + '_ {
    medium.attached.iter().copied().map(NodeId::index)
}
