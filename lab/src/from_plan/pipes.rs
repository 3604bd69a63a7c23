//! Flows over RCP and R²CP: `prismux serve` and `prismux fetch` in the lab, with their own engine.

use crate::plan::{FetchPlan, PipePlan};
use prismux_plan::{Flow, Pipe, Plan, R2cpSettings, TcpSettings, Transport, Unsupported};
use prismux_units::{Duration, Instant};

/// The pipes of a flow over RCP or R²CP; `None` for other transports.
pub(super) fn fetch(
    scenario: &Plan,
    flow: &Flow,
    start: Duration,
) -> Result<Option<Box<FetchPlan>>, Unsupported> {
    let r2cp = match &flow.transport {
        Transport::R2cp(settings) => settings.clone(),
        Transport::Rcp => {
            R2cpSettings { pipes: vec![single(scenario, flow, start)], ..R2cpSettings::DEFAULT }
        }
        _ => return Ok(None),
    };
    settings(flow, &r2cp)?;
    let pipes = r2cp.pipes.iter().map(|pipe| lower(scenario, flow, pipe, start)).collect::<Result<_, _>>()?;
    Ok(Some(Box::new(FetchPlan { pipes, target_rate: r2cp.target_rate, window: flow.tcp.window })))
}

/// The only pipe of a flow over RCP.
fn single(scenario: &Plan, flow: &Flow, start: Duration) -> Pipe {
    let link = flow.links.first().copied();
    Pipe { link, opens: start, ..Pipe::new(&scenario[flow.from].name, flow.from) }
}

fn lower(scenario: &Plan, flow: &Flow, pipe: &Pipe, start: Duration) -> Result<PipePlan, Unsupported> {
    let link = pipe.link.map(|link| &scenario[link]);
    if let Some(link) = link.filter(|link| !link.ends.contains(&flow.to)) {
        return Err(Unsupported {
            what: format!(
                "flow \"{}\": the pipe \"{}\" is tied to link \"{}\" of its server; in the lab pipes are tied to the receiver's interfaces",
                flow.name, pipe.name, link.name
            ),
            remedy: format!("name a link of \"{}\", or use --on sim", scenario[flow.to].name),
        });
    }
    let at = |time: Duration| Instant::ZERO + time;
    Ok(PipePlan {
        name: pipe.name.clone(),
        server: scenario[pipe.server].name.clone(),
        link: link.map(|link| link.name.clone()),
        cost: pipe.cost,
        opens: at(pipe.opens.max(start)),
        closes: pipe.closes.map(at),
        drops: pipe.drops.map(at),
    })
}

/// The programs run today's engine, segments by rank. Era profiles only say where switches begin, so they are let pass; a switch
/// that somebody has set is not.
fn settings(flow: &Flow, r2cp: &R2cpSettings) -> Result<(), Unsupported> {
    let refused = |what: &str, remedy: &str| {
        Err(Unsupported {
            what: format!(
                "flow \"{}\": {what} exists in the simulator only; the lab runs prismux fetch as it is",
                flow.name
            ),
            remedy: remedy.to_string(),
        })
    };
    if r2cp.scheduling != R2cpSettings::DEFAULT.scheduling {
        return refused("another scheduling than by rank", "leave scheduling out, or use --on sim");
    }
    if r2cp.pipes.iter().any(|pipe| pipe.congestion.is_some()) {
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
    ];
    switches.into_iter().find(|(_, is_set)| *is_set).map(|(name, _)| name)
}
