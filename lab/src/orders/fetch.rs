//! Flows that processes of `prismux serve` and `prismux fetch` carry, with their own engine.
use prismux_plan::{Flow, Pipe, Plan, R2cpSettings, TcpSettings, Transport, Unsupported};
use prismux_units::{ByteCount, Duration, Rate};

/// Most bytes of the object in a data packet of `prismux serve`: what capacity is reckoned with.
pub(crate) const FETCH_PAYLOAD_BYTES: u32 = 1289;
/// Length of such a packet with its IPv4 header.
pub(crate) const FETCH_PACKET_BYTES: u32 = 1378;

/// What is fetched, and over which pipes. The flow's sender only names the flow; every pipe has a server of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FetchOrders {
    /// The pipes; none opens before the flow starts.
    pub pipes: Vec<Pipe>,
    /// The rate at which the stream is wanted.
    pub target_rate: Option<Rate>,
    /// Asked for, or received out of order, at most.
    pub window: Option<ByteCount>,
}

/// The pipes of a flow that these programs carry and how it uses them; `None` for other transports.
pub(super) fn pipes(
    plan: &Plan,
    flow: &Flow,
    transport: &Transport,
    start: Duration,
) -> Option<R2cpSettings> {
    match transport {
        Transport::R2cp(settings) => Some(settings.clone()),
        Transport::Rcp(_) => {
            let link = flow.links.first().copied();
            let pipe = Pipe { link, opens: start, ..Pipe::new(&plan[flow.from].name, flow.from) };
            Some(R2cpSettings { pipes: vec![pipe], ..R2cpSettings::DEFAULT })
        }
        _ => None,
    }
}

impl FetchOrders {
    /// What the programs are told.
    ///
    /// # Errors
    /// For what the programs do not have.
    pub(super) fn new(
        plan: &Plan,
        flow: &Flow,
        settings: &R2cpSettings,
        start: Duration,
    ) -> Result<Self, Unsupported> {
        refuse(flow, settings)?;
        for pipe in &settings.pipes {
            refuse_servers_link(plan, flow, pipe)?;
        }
        let open = |pipe: &Pipe| Pipe { opens: pipe.opens.max(start), ..pipe.clone() };
        let pipes = settings.pipes.iter().map(open).collect();
        Ok(Self { pipes, target_rate: settings.target_rate, window: flow.tcp.window })
    }
}

fn refuse_servers_link(plan: &Plan, flow: &Flow, pipe: &Pipe) -> Result<(), Unsupported> {
    match pipe.link.map(|link| &plan[link]).filter(|link| !link.ends.contains(&flow.to)) {
        Some(link) => Err(Unsupported {
            what: format!(
                "flow \"{}\": the pipe \"{}\" is tied to link \"{}\" of its server; in the lab pipes are tied to the \
                 receiver's interfaces",
                flow.name, pipe.name, link.name
            ),
            remedy: format!("name a link of \"{}\", or use --on sim", plan[flow.to].name),
        }),
        None => Ok(()),
    }
}

/// The programs run today's engine, segments by rank. Era profiles only say where switches begin, so they are let
/// pass; a switch that somebody has set is not.
fn refuse(flow: &Flow, settings: &R2cpSettings) -> Result<(), Unsupported> {
    let refused = |what: &str, remedy: &str| {
        Err(Unsupported {
            what: format!(
                "flow \"{}\": {what} exists in the simulator only; the lab runs prismux fetch as it is",
                flow.name
            ),
            remedy: remedy.to_string(),
        })
    };
    if settings.scheduling != R2cpSettings::DEFAULT.scheduling {
        return refused("another scheduling than by rank", "leave scheduling out, or use --on sim");
    }
    if settings.pipes.iter().any(|pipe| pipe.congestion.is_some()) {
        return refused("a congestion control for one pipe", "leave congestion out, or use --on sim");
    }
    if flow.via.is_some() {
        return refused("a way through a member", "leave via out");
    }
    match set_switch(&flow.tcp) {
        Some(switch) => {
            refused(&format!("tcp.{switch}"), "leave it out (tcp.window is heeded), or use --on sim")
        }
        None => Ok(()),
    }
}

/// A switch that somebody has set and the programs do not have.
fn set_switch(tcp: &TcpSettings) -> Option<&'static str> {
    let delayed = tcp.delayed_ack.is_some_and(|delay| delay > Duration::ZERO);
    let switches = [
        ("congestion", tcp.congestion.is_some()),
        ("hystart", tcp.hystart.is_some()),
        ("mss", tcp.mss.is_some()),
        ("initial_window", tcp.initial_window.is_some()),
        ("sack", tcp.sack.is_some()),
        ("forget_sacks", tcp.forget_sacks.is_some()),
        ("rfc6675", tcp.rfc6675.is_some()),
        ("polls_per_rtt", tcp.polls_per_rtt.is_some()),
        ("timestamps", tcp.timestamps.is_some()),
        // Requests are never delayed there.
        ("delayed_ack", delayed),
        ("min_rto", tcp.min_rto.is_some()),
        ("max_rto", tcp.max_rto.is_some()),
        ("clock_granularity", tcp.clock_granularity.is_some()),
        ("dup_threshold", tcp.dup_threshold.is_some()),
        ("rack", tcp.rack.is_some()),
        ("tlp", tcp.tlp.is_some()),
        ("undo", tcp.undo.is_some()),
        ("ecn", tcp.ecn.is_some()),
        ("ecn_echo", tcp.ecn_echo.is_some()),
    ];
    switches.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
}
