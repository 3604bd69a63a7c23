//! A plan as this machine carries it out: what carries each flow here, and what the lab does not have.
//!
//! * [`fetch`]: flows that processes of `prismux serve` and `prismux fetch` carry.
mod fetch;

pub(crate) use fetch::{FETCH_PACKET_BYTES, FETCH_PAYLOAD_BYTES, FetchOrders};

use crate::LabError;
use crate::kernel_tcp::KernelTcp;
use prismux_endpoint::random::Seed;
use prismux_plan::{Congestion, Feature, Flow, Lack, MptcpSettings, Plan, Transport, Tunnel, Unsupported};
use prismux_tcp::TcpConfig;
use prismux_units::{Duration, Instant};

/// What plans may ask for and the lab does not have.
const LACKS: &[Lack] = &[
    Lack { feature: Feature::SharedMedium, what: "{} exists in the simulator only", remedy: "use --on sim" },
    Lack {
        feature: Feature::ComparedHops,
        what: "{}: hops are compared in the simulator only",
        remedy: "leave out compare_hops, or use --on sim",
    },
    Lack {
        feature: Feature::Pattern("writes"),
        what: "{}: writes at equal intervals exist in the simulator only",
        remedy: "use --on sim",
    },
    Lack {
        feature: Feature::Sleep,
        what: "{}: receivers sleep in the simulator only",
        remedy: "use --on sim, or take the link down: up = false",
    },
    Lack {
        feature: Feature::RequestSettings,
        what: "{}: the lab runs prismux fetch, which opens and knows no limit of the sender",
        remedy: "leave out the table \"rcp\", or use --on sim",
    },
    Lack {
        feature: Feature::Transport("tcp-ho"),
        what: "{}: TCP-HO exists in the simulator only",
        remedy: "use --on sim",
    },
    not_spoken("tcp-door", "{}: the lab's hosts do not speak \"tcp-door\""),
    not_spoken("tcp-eln", "{}: the lab's hosts do not speak \"tcp-eln\""),
    not_spoken("rcp-eln", "{}: the lab's hosts do not speak \"rcp-eln\""),
    not_spoken("ptcp", "{}: the lab's hosts do not speak \"ptcp\""),
    not_spoken("striping-unaware", "{}: the lab's hosts do not speak \"striping-unaware\""),
    not_spoken("striping-smart", "{}: the lab's hosts do not speak \"striping-smart\""),
    Lack {
        feature: Feature::Congestion(Congestion::Bbr3),
        what: "{}: kernels have no BBR of version 3",
        remedy: "use --on sim, or congestion = \"bbr\", which is version 1",
    },
    Lack {
        feature: Feature::Congestion(Congestion::Stp),
        what: "{}: kernels have no STP",
        remedy: "use --on sim, or congestion = \"cubic\" or \"newreno\"",
    },
    Lack {
        feature: Feature::Tunnel(Tunnel::Free),
        what: "{}: a tunnel without headers exists in the simulator only",
        remedy: "use --on sim, or another tunnel",
    },
];

const fn not_spoken(name: &'static str, what: &'static str) -> Lack {
    Lack { feature: Feature::Transport(name), what, remedy: "use --on sim, or another transport" }
}

/// Port of the first flow's listener; one more for each further flow.
pub(crate) const FIRST_PORT: u16 = 5001;

/// A plan, and how its flows are carried.
pub(crate) struct Orders<'a> {
    pub plan: &'a Plan,
    /// Of every random stream of the run: link losses, traffic, file contents.
    pub seed: Seed,
    /// By flow of the plan.
    pub flows: Vec<FlowOrders<'a>>,
}

/// A flow, and how it is carried. The node that receives the data opens the connection, as in a download.
#[derive(Debug)]
pub(crate) struct FlowOrders<'a> {
    pub flow: &'a Flow,
    pub carrier: Carrier,
    /// How the kernels at its two ends treat TCP. All flows that end at a node must agree.
    pub tcp: KernelTcp,
    pub start: Instant,
    /// When it stops at the latest; the end of the run without.
    pub stop: Option<Instant>,
}

/// What carries a flow's data.
#[derive(Debug, PartialEq)]
pub(crate) enum Carrier {
    /// The kernel's TCP.
    Tcp,
    /// The kernel's MPTCP, one subflow through each member.
    Mptcp,
    /// From our own TCP, which acts on the proxy's loss reports (TCP-PRISM), to the kernel's.
    OwnTcp(Box<TcpConfig>),
    /// Datagrams.
    Udp,
    /// Processes of `prismux serve` and `prismux fetch`.
    Fetch(Box<FetchOrders>),
}

impl Carrier {
    /// Whether the kernels at both ends take part with their TCP.
    pub const fn is_kernel_tcp(&self) -> bool {
        matches!(self, Self::Tcp | Self::Mptcp | Self::OwnTcp(_))
    }
}

impl<'a> Orders<'a> {
    /// How `plan` is carried out.
    ///
    /// # Errors
    /// When the plan makes no sense, or asks for what the lab does not have.
    pub fn new(plan: &'a Plan, seed: Seed) -> Result<Self, LabError> {
        plan.check().map_err(LabError::Plan)?;
        plan.refuse(LACKS).map_err(LabError::Unsupported)?;
        let orders = |id| {
            let (start, stop) = plan.times_of(id);
            FlowOrders::new(plan, &plan[id], start, stop)
        };
        let flows = plan.flow_ids().map(orders).collect::<Result<_, _>>();
        Ok(Self { plan, seed, flows: flows.map_err(LabError::Unsupported)? })
    }
}

impl<'a> FlowOrders<'a> {
    fn new(
        plan: &Plan,
        flow: &'a Flow,
        start: Duration,
        stop: Option<Duration>,
    ) -> Result<Self, Unsupported> {
        let mut tcp = KernelTcp::of(&flow.tcp);
        let carrier = match &flow.transport {
            Transport::Mptcp(settings) if *settings == MptcpSettings::DEFAULT => Carrier::Mptcp,
            Transport::Mptcp(_) => {
                return Err(Unsupported {
                    what: format!("flow \"{}\": the kernel has one scheduler and no coupling", flow.name),
                    remedy: "leave out the table \"mptcp\", or use --on sim".to_owned(),
                });
            }
            Transport::Udp => Carrier::Udp,
            // The kernels do not speak TCP-PRISM: its sender is our own TCP.
            Transport::TcpPrism => {
                let own = flow.tcp.config();
                // The receiver answers as the sender's profile expects, not as kernels imitate it.
                (tcp.sack, tcp.dsack) = (Some(own.sack), Some(own.dsack));
                tcp.timestamps = Some(own.timestamps);
                Carrier::OwnTcp(Box::new(own))
            }
            transport => match fetch::pipes(plan, flow, transport, start) {
                Some(settings) => Carrier::Fetch(Box::new(FetchOrders::new(plan, flow, &settings, start)?)),
                None => Carrier::Tcp,
            },
        };
        let at = |time: Duration| Instant::ZERO + time;
        Ok(Self { flow, carrier, tcp, start: at(start), stop: stop.map(at) })
    }

    /// Size of the file, when the flow carries one that ends.
    pub fn file_bytes(&self) -> Option<u64> {
        self.flow.file_bytes().map(|bytes| bytes.as_u64())
    }
}

#[cfg(test)]
mod tests;
