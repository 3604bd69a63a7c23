//! A flow's sockets, made in its nodes' namespaces before the run begins.
//!
//! * [`fetch`]: processes in place of sockets. [`programs`]: those of the user.
mod fetch;
mod programs;

use crate::LabError;
use crate::orders::{Carrier, FIRST_PORT, FlowOrders};
use crate::stage::Stage;
use crate::topology::Path;
use crate::traffic::exchange::ExchangeFlow;
use crate::traffic::fetch::FetchFlow;
use crate::traffic::own_tcp::OwnTcp;
use crate::traffic::socket::SocketMaker;
use crate::traffic::tcp::{SenderEnd, TcpFlow};
use crate::traffic::udp::{Pattern, UdpFlow};
use crate::traffic::{FlowOutcome, Schedule};
use prismux_linux::clock::Clock;
use prismux_plan::{FlowId, Traffic};
use prismux_units::Instant;
use std::net::{SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flow whose sockets exist.
pub(super) enum PreparedFlow {
    Tcp(TcpFlow),
    Exchange(ExchangeFlow),
    Udp(UdpFlow),
    Fetch(FetchFlow),
}

impl PreparedFlow {
    /// Runs the flow to its end and reports.
    pub fn run(self) -> FlowOutcome {
        match self {
            Self::Tcp(flow) => flow.run(),
            Self::Exchange(flow) => flow.run(),
            Self::Udp(flow) => flow.run(),
            Self::Fetch(flow) => flow.run(),
        }
    }
}

impl Stage<'_> {
    /// Makes the sockets of every flow.
    ///
    /// # Errors
    /// When a socket cannot be made, with the flow it was for.
    pub fn prepare_flows(
        &mut self,
        clock: Clock,
        over: &Arc<AtomicBool>,
    ) -> Result<Vec<PreparedFlow>, LabError> {
        let orders = self.orders;
        let end = Instant::ZERO + orders.plan.duration;
        let mut prepared = Vec::with_capacity(orders.flows.len());
        for (index, flow) in orders.flows.iter().enumerate() {
            let stop = flow.stop.map_or(end, |stop| stop.min(end));
            let schedule = Schedule { clock, start: flow.start, stop, over: Arc::clone(over) };
            let port = FIRST_PORT.wrapping_add(index as u16);
            if let Carrier::Fetch(fetch) = &flow.carrier {
                prepared.push(PreparedFlow::Fetch(self.prepare_fetch(flow, fetch, port, schedule)?));
                continue;
            }
            prepared.push(match flow.flow.traffic {
                Traffic::Bulk { .. } => {
                    PreparedFlow::Tcp(self.prepare_tcp((FlowId::new(index), flow), port, schedule)?)
                }
                Traffic::RequestResponse { .. } => {
                    PreparedFlow::Exchange(self.prepare_exchange(flow, port, schedule)?)
                }
                Traffic::Writes { .. } => {
                    return Err(LabError::flow(
                        &flow.flow.name,
                        "writes at intervals, which the lab does not",
                    ));
                }
                Traffic::Cbr { .. } | Traffic::ParetoOnOff { .. } => {
                    PreparedFlow::Udp(self.prepare_udp(flow, port, schedule)?)
                }
            });
        }
        Ok(prepared)
    }

    fn prepare_tcp(
        &mut self,
        (id, orders): (FlowId, &FlowOrders<'_>),
        port: u16,
        schedule: Schedule,
    ) -> Result<TcpFlow, LabError> {
        let (flow, seed, bytes) = (orders.flow, self.orders.seed, orders.file_bytes());
        let path = self.first_path(orders)?;
        let maker = SocketMaker { mptcp: orders.carrier == Carrier::Mptcp, tcp: &orders.tcp };
        let server = SocketAddrV4::new(self.topology.sender_address(id, orders), port);
        let sample_interval = self.orders.plan.measure.interval;
        let failed = |error| LabError::flow(&flow.name, error);
        let sender = match &orders.carrier {
            Carrier::OwnTcp(settings) => SenderEnd::Own(Box::new(OwnTcp {
                flow: flow.name.clone(),
                seed,
                schedule: schedule.clone(),
                tcp: prismux_tcp::TcpConfig::clone(settings),
                tun: self
                    .own_senders
                    .remove(server.ip())
                    .ok_or_else(|| LabError::flow(&flow.name, "the device of its sender is taken"))?,
                address: server,
                bytes,
                sample_interval,
                events: self.events.clone(),
            })),
            _ => {
                SenderEnd::Kernel(self.inside(flow.from.index(), || maker.listener(server))?.map_err(failed)?)
            }
        };
        Ok(TcpFlow {
            name: flow.name.clone(),
            seed,
            schedule,
            bytes,
            updates_every: match flow.traffic {
                Traffic::Bulk { updates_every, .. } => updates_every.map(|every| every.as_u64()),
                _ => None,
            },
            sender,
            caller: self.inside(flow.to.index(), || maker.caller(path.address))?.map_err(failed)?,
            server,
            mptcp: maker.mptcp,
            sample_interval,
            events: self.events.clone(),
        })
    }

    fn prepare_exchange(
        &mut self,
        orders: &FlowOrders<'_>,
        port: u16,
        schedule: Schedule,
    ) -> Result<ExchangeFlow, LabError> {
        let flow = orders.flow;
        let Traffic::RequestResponse { request, response, think, exchanges } = flow.traffic else {
            return Err(LabError::flow(&flow.name, "is not an exchange"));
        };
        let path = self.first_path(orders)?;
        let maker = SocketMaker { mptcp: orders.carrier == Carrier::Mptcp, tcp: &orders.tcp };
        let server = SocketAddrV4::new(path.address, port);
        let client = self.topology.client_address(flow)?;
        let failed = |error| LabError::flow(&flow.name, error);
        Ok(ExchangeFlow {
            schedule,
            client: self.inside(flow.from.index(), || maker.caller(client))?.map_err(failed)?,
            server,
            listener: self.inside(flow.to.index(), || maker.listener(server))?.map_err(failed)?,
            request_bytes: request.as_u64(),
            response_bytes: response.as_u64(),
            think,
            exchanges,
        })
    }

    fn prepare_udp(
        &mut self,
        orders: &FlowOrders<'_>,
        port: u16,
        schedule: Schedule,
    ) -> Result<UdpFlow, LabError> {
        let flow = orders.flow;
        let failed = |error| LabError::flow(&flow.name, error);
        let pattern = Pattern::of(&flow.traffic, self.orders.seed, &flow.name)
            .ok_or_else(|| LabError::flow(&flow.name, "is not a UDP source"))?;
        let path = self.first_path(orders)?;
        let to = SocketAddrV4::new(path.address, port);
        let from = SocketAddrV4::new(self.topology.address(path.from), port);
        Ok(UdpFlow {
            schedule,
            sender: self.inside(flow.from.index(), || UdpSocket::bind(from))?.map_err(failed)?,
            receiver: self.inside(flow.to.index(), || UdpSocket::bind(to))?.map_err(failed)?,
            to: to.into(),
            pattern,
            delays: self.orders.plan.measure.delays,
        })
    }

    /// The path on which a flow begins: the first, under MPTCP the first through a member that is there.
    fn first_path(&mut self, orders: &FlowOrders<'_>) -> Result<Path, LabError> {
        let paths = self.topology.paths(orders)?;
        let usable = |path: &&Path| path.member.is_none_or(|member| self.is_present(member));
        paths
            .iter()
            .find(usable)
            .or(paths.first())
            .cloned()
            .ok_or_else(|| LabError::flow(&orders.flow.name, "has no way to its receiver"))
    }
}
