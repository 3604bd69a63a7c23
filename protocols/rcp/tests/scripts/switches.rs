//! Switches of an end, and those with which scripts begin.
use prismux_rcp::RcpConfig;
use prismux_script::{duration, number};
use prismux_tcp::engine::{CongestionKind, WindowReduction};
use prismux_units::{ByteCount, Rate};

/// Switches with which numbers are easy to follow: segments of 100 bytes, no timestamps, no scaling, a first window
/// of four, halved at once.
pub fn plain() -> RcpConfig {
    let mut config = RcpConfig::modern();
    (config.mss, config.timestamps, config.consume_on_arrival) = (100, false, true);
    (config.receive_buffer, config.request_limit) = (ByteCount::new(60_000), ByteCount::new(60_000));
    let engine = &mut config.engine;
    (engine.congestion, engine.hystart, engine.initial_window_segments) = (CongestionKind::NewReno, None, 4);
    (engine.rack, engine.tlp, engine.frto) = (false, false, false);
    engine.reduction = WindowReduction::Immediate;
    (engine.idle_restart, engine.adaptive_reordering) = (false, false);
    config
}

/// Changes one switch.
pub fn change(config: &mut RcpConfig, key: &str, value: &str) -> Result<(), String> {
    let on = value == "on";
    match key {
        "window" => config.engine.initial_window_segments = number(value)?,
        "congestion" => {
            config.engine.congestion = CongestionKind::parse(value).ok_or("no such congestion control")?;
        }
        "ecn" => config.ecn = on,
        "timestamps" => config.timestamps = on,
        "consume_on_arrival" => config.consume_on_arrival = on,
        "receive_buffer" => config.receive_buffer = ByteCount::new(number(value)?),
        "request_limit" => config.request_limit = ByteCount::new(number(value)?),
        "spread_grants" => config.spread_grants = on,
        "answer_ring" => config.answer_ring = number(value)?,
        "rate_cap" => config.rate_cap = Some(Rate::from_bps(number(value)?)),
        "rate_burst" => config.rate_burst = ByteCount::new(number(value)?),
        "open_retries" => config.open_retries = number(value)?,
        "keep_alive" => config.keep_alive = duration(value)?,
        _ => return Err(format!("unknown switch {key:?}")),
    }
    Ok(())
}
