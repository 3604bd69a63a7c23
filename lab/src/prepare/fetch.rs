//! Servers and clients of flows over RCP and R²CP.
use crate::LabError;
use crate::plan::{Action, FetchPlan, FlowPlan, LabPlan, Traffic};
use crate::servers::{Object, Server};
use crate::stage::Stage;
use crate::traffic::Schedule;
use crate::traffic::fetch::{FetchFlow, ReadyPipe};
use prismux_endpoint::random::Seed;
use prismux_units::{Instant, Rate};
use std::net::SocketAddrV4;

/// More is not put into memory for a flow without a size.
const LARGEST_OBJECT_BYTES: u64 = 4 << 30;
/// What a flow may fetch beyond what the links' rates allow: queues and bursts.
const MARGIN_BYTES: u64 = 1 << 20;

impl Stage<'_> {
    /// Starts the servers of a flow's pipes, one on each of their nodes.
    pub(super) fn prepare_fetch(
        &mut self,
        flow: &FlowPlan,
        fetch: &FetchPlan,
        port: u16,
        schedule: Schedule,
    ) -> Result<FetchFlow, LabError> {
        let Traffic::Bulk { bytes } = flow.traffic else {
            return Err(LabError::flow(&flow.name, "is not bulk data"));
        };
        let size = match bytes {
            Some(bytes) => bytes.as_u64(),
            None => without_end(self.plan, flow, &schedule)?,
        };
        let mut own: Vec<(String, String, String)> = Vec::new();
        let mut pipes = Vec::new();
        for pipe in &fetch.pipes {
            let ends = self.topology.pipe_ends(self.plan, flow, pipe)?;
            if !own.iter().any(|(node, ..)| *node == pipe.server) {
                let listen = SocketAddrV4::new(ends.server_address, port);
                let object = Object { seed: Seed(self.plan.seed), flow: &flow.name, bytes: size };
                let server = self.start_server(ends.server, listen, object)?;
                own.push((pipe.server.clone(), server.url.clone(), server.sha256.clone()));
            }
            let url = own.iter().find(|(node, ..)| *node == pipe.server).map(|(_, url, _)| url.clone());
            pipes.push(ReadyPipe { plan: pipe.clone(), ends, url: url.unwrap_or_default() });
        }
        Ok(FetchFlow {
            schedule,
            how: self.how.clone(),
            namespace: self.namespace_of(&flow.to)?.clone(),
            plan: fetch.clone(),
            pipes,
            has_end: bytes.is_some(),
            sha256: own.into_iter().next().map_or(String::new(), |(_, _, sha256)| sha256),
            warm_up: self.plan.warm_up,
            sample_interval: self.plan.series_interval,
        })
    }

    fn start_server(
        &mut self,
        node: usize,
        listen: SocketAddrV4,
        object: Object<'_>,
    ) -> Result<&Server, LabError> {
        let name = self.topology.name(node).to_owned();
        let server = Server::start(self.how, self.namespace_of(&name)?, &name, listen, object)?;
        self.servers.push(server);
        // Just pushed.
        Ok(&self.servers[self.servers.len() - 1])
    }
}

/// As many bytes as a flow without end cannot fetch: what the links of all its pipes carry at their highest rates.
fn without_end(plan: &LabPlan, flow: &FlowPlan, schedule: &Schedule) -> Result<u64, LabError> {
    let rate_of = |link: &crate::plan::LinkPlan| -> Option<Rate> {
        let changes = plan.events.iter().filter_map(|event| match &event.action {
            Action::ChangeLink { link: name, forward, reverse } if *name == link.name => {
                forward.and_then(|change| change.rate).max(reverse.and_then(|change| change.rate))
            }
            _ => None,
        });
        let own = [&link.forward, &link.reverse].map(|way| way.mean_rate());
        own.into_iter().collect::<Option<Vec<Rate>>>()?.into_iter().chain(changes).max()
    };
    let ends_here = plan.links.iter().filter(|link| link.a == flow.to || link.b == flow.to);
    let rates: Option<Vec<Rate>> = ends_here.map(rate_of).collect();
    let seconds = (schedule.stop - flow.start.max(Instant::ZERO)).as_secs_f64();
    let bits = rates.map(|rates| rates.iter().map(|rate| rate.as_bps() as f64).sum::<f64>() * seconds);
    match bits.map(|bits| (bits / 8.0) as u64 + MARGIN_BYTES) {
        Some(bytes) if bytes <= LARGEST_OBJECT_BYTES => Ok(bytes),
        _ => Err(LabError::flow(
            &flow.name,
            format!(
                "has no size, and what it could fetch does not fit {LARGEST_OBJECT_BYTES} bytes of memory; give it \"bytes\""
            ),
        )),
    }
}
