//! Servers and clients of flows over RCP and R²CP.
use crate::LabError;
use crate::orders::{FetchOrders, FlowOrders};
use crate::servers::{Object, Server};
use crate::stage::Stage;
use crate::traffic::Schedule;
use crate::traffic::fetch::{FetchFlow, ReadyPipe};
use prismux_plan::{Action, Link, NodeId, Plan};
use prismux_units::Rate;
use std::net::SocketAddrV4;

/// More is not put into memory for a flow without a size.
const LARGEST_OBJECT_BYTES: u64 = 4 << 30;
/// What a flow may fetch beyond what the links' rates allow: queues and bursts.
const MARGIN_BYTES: u64 = 1 << 20;

impl Stage<'_> {
    /// Starts the servers of a flow's pipes, one on each of their nodes.
    pub(super) fn prepare_fetch(
        &mut self,
        orders: &FlowOrders<'_>,
        fetch: &FetchOrders,
        port: u16,
        schedule: Schedule,
    ) -> Result<FetchFlow, LabError> {
        let (plan, flow, bytes) = (self.orders.plan, orders.flow, orders.file_bytes());
        let size = match bytes {
            Some(bytes) => bytes,
            None => without_end(plan, orders, &schedule)?,
        };
        let mut own: Vec<(NodeId, String, String)> = Vec::new();
        let mut pipes = Vec::new();
        for pipe in &fetch.pipes {
            let ends = self.topology.pipe_ends(plan, flow, pipe)?;
            if !own.iter().any(|(node, ..)| *node == pipe.server) {
                let listen = SocketAddrV4::new(ends.server_address, port);
                let object = Object { seed: self.orders.seed, flow: &flow.name, bytes: size };
                let server = self.start_server(ends.server, listen, object)?;
                own.push((pipe.server, server.url.clone(), server.sha256.clone()));
            }
            let url = own.iter().find(|(node, ..)| *node == pipe.server).map(|(_, url, _)| url.clone());
            pipes.push(ReadyPipe { plan: pipe.clone(), ends, url: url.unwrap_or_default() });
        }
        Ok(FetchFlow {
            schedule,
            how: self.how.clone(),
            namespace: self.namespaces[flow.to.index()].clone(),
            orders: fetch.clone(),
            pipes,
            has_end: bytes.is_some(),
            sha256: own.into_iter().next().map_or(String::new(), |(_, _, sha256)| sha256),
            warm_up: plan.measure.warm_up.unwrap_or_default(),
            sample_interval: plan.measure.interval,
        })
    }

    fn start_server(
        &mut self,
        node: usize,
        listen: SocketAddrV4,
        object: Object<'_>,
    ) -> Result<&Server, LabError> {
        let name = self.topology.name(node).to_owned();
        let server = Server::start(self.how, &self.namespaces[node], &name, listen, object)?;
        self.servers.push(server);
        // Just pushed.
        Ok(&self.servers[self.servers.len() - 1])
    }
}

/// As many bytes as a flow without end cannot fetch: what the links of all its pipes carry at their highest rates.
fn without_end(plan: &Plan, orders: &FlowOrders<'_>, schedule: &Schedule) -> Result<u64, LabError> {
    let flow = orders.flow;
    let rate_of = |link: &Link| -> Option<Rate> {
        let changes = plan.events.iter().filter_map(|event| match event.action {
            Action::ChangeLink { link: changed, change, .. } if plan[changed].name == link.name => {
                change.rate
            }
            _ => None,
        });
        let own = [&link.forward, &link.reverse].map(|direction| direction.link.mean_rate());
        own.into_iter().collect::<Option<Vec<Rate>>>()?.into_iter().chain(changes).max()
    };
    let ends_here = plan.links.iter().filter(|link| link.ends.contains(&flow.to));
    let rates: Option<Vec<Rate>> = ends_here.map(rate_of).collect();
    let seconds = (schedule.stop - orders.start).as_secs_f64();
    let bits = rates.map(|rates| rates.iter().map(|rate| rate.as_bps() as f64).sum::<f64>() * seconds);
    match bits.map(|bits| (bits / 8.0) as u64 + MARGIN_BYTES) {
        Some(bytes) if bytes <= LARGEST_OBJECT_BYTES => Ok(bytes),
        _ => Err(LabError::flow(
            &flow.name,
            format!(
                "has no size, and what it could fetch does not fit {LARGEST_OBJECT_BYTES} bytes of memory; give \
                    it \"bytes\""
            ),
        )),
    }
}
