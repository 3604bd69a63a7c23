//! A flow's TCP switches as our own TCP understands them.

use super::Unsupported;
use crate::model::{Flow, TcpSettings};
use crate::registry::Congestion;
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{CongestionKind, EngineConfig};
use prismux_units::Duration;

/// Profile and single switches of `flow`.
pub(super) fn tcp_config(flow: &Flow) -> Result<TcpConfig, Unsupported> {
    let settings = &flow.tcp;
    let mut config = settings.profile.config();
    if let Some(congestion) = settings.congestion {
        config.engine.congestion = match congestion {
            Congestion::NewReno => CongestionKind::NewReno,
            Congestion::Cubic => CongestionKind::Cubic,
            Congestion::Stp => CongestionKind::Stp,
            Congestion::Bbr => {
                return Err(Unsupported {
                    what: format!("flow \"{}\": BBR is the kernel's and exists in the lab only", flow.name),
                    remedy: "use --on lab, or congestion = \"cubic\" or \"newreno\"".to_string(),
                });
            }
        };
    }
    engine(&mut config.engine, settings);
    connection(&mut config, settings);
    Ok(config)
}

fn engine(engine: &mut EngineConfig, settings: &TcpSettings) {
    if settings.sack == Some(false) {
        if settings.profile == prismux_tcp::TcpProfile::Ns2_2002 {
            // Without SACK the agent of that simulator is another one.
            engine.recovery = EngineConfig::ns2_newreno().recovery;
        }
        // All of these build on SACK.
        (engine.sack, engine.fack, engine.rack, engine.tlp) = (false, false, false, false);
    }
    put(&mut engine.initial_window_segments, settings.initial_window);
    put(&mut engine.hystart, settings.hystart);
    put(&mut engine.min_rto, settings.min_rto);
    put(&mut engine.max_rto, settings.max_rto);
    put(&mut engine.clock_granularity, settings.clock_granularity);
    put(&mut engine.dup_threshold, settings.dup_threshold);
    put(&mut engine.rack, settings.rack);
    put(&mut engine.tlp, settings.tlp);
    if let Some(undo) = settings.undo {
        (engine.undo, engine.frto) = (undo, undo);
    }
}

fn connection(config: &mut TcpConfig, settings: &TcpSettings) {
    put(&mut config.mss, settings.mss);
    put(&mut config.receive_buffer, settings.window);
    put(&mut config.timestamps, settings.timestamps);
    put(&mut config.nagle, settings.nagle);
    put(&mut config.ecn, settings.ecn);
    put(&mut config.min_persist, settings.min_persist);
    if let Some(sack) = settings.sack {
        (config.sack, config.dsack) = (sack, sack && config.dsack);
    }
    if let Some(delay) = settings.delayed_ack {
        config.delayed_ack = Some(delay).filter(|delay| *delay > Duration::ZERO);
    }
    // Sinks read at once: a window above the offered scale's reach needs scaling.
    if config.receive_buffer.as_u64() > 65_535 {
        config.window_scaling = true;
    }
}

fn put<T>(setting: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *setting = value;
    }
}
