//! The first line of a script: which side, which pipes, changed switches.
use prismux_ptcp::{PtcpConfig, Reassignment, ResumeOrder};
use prismux_script::{Words, duration, number};
use prismux_tcp::TcpConfig;
use prismux_tcp::engine::{CongestionKind, WindowReduction};
use prismux_units::{ByteCount, Duration};

/// What a script begins with.
pub struct Setup {
    /// The far end opens the connection.
    pub is_server: bool,
    pub config: PtcpConfig,
    /// Pipes that are open when the script begins.
    pub round_trips: Vec<Duration>,
    /// Addresses of ours.
    pub addresses: usize,
    /// Pipes and addresses that the far end grants.
    pub granted: u8,
    /// Receive window that the far end tells at first.
    pub window: u16,
}

/// A TCP whose numbers are easy to follow: segments of 1000 bytes, a first window of two, every segment acknowledged
/// at once, losses found by three duplicates or the timeout alone, the window halved at once.
fn plain() -> TcpConfig {
    let mut tcp = TcpConfig::modern();
    (tcp.mss, tcp.timestamps, tcp.delayed_ack, tcp.quick_ack_segments) = (1000, false, None, 0);
    tcp.receive_buffer = ByteCount::new(64_000);
    let engine = &mut tcp.engine;
    (engine.congestion, engine.hystart) = (CongestionKind::NewReno, None);
    (engine.rack, engine.tlp, engine.frto) = (false, false, false);
    engine.reduction = WindowReduction::Immediate;
    (engine.idle_restart, engine.adaptive_reordering) = (false, false);
    engine.initial_window_segments = 2;
    tcp
}

/// Reads `[server] key=value ...`.
pub fn read(words: &mut Words<'_>) -> Result<Setup, String> {
    let is_server = words.skip("server");
    let config = PtcpConfig { consume_on_arrival: true, ..PtcpConfig::new(plain(), 2) };
    let mut setup =
        Setup { is_server, config, round_trips: Vec::new(), addresses: 2, granted: 2, window: 60_000 };
    for (key, value) in words.switches()? {
        match key {
            "rtt" => setup.set_round_trips(value)?,
            "pipes" => {
                setup.config.pipes = number(value)?;
                (setup.addresses, setup.granted) = (usize::from(setup.config.pipes), setup.config.pipes);
            }
            "addresses" => setup.addresses = number(value)?,
            "window" => setup.window = number(value)?,
            "granted" => setup.granted = number(value)?,
            _ => change(&mut setup.config, key, value)?,
        }
    }
    Ok(setup)
}

impl Setup {
    fn set_round_trips(&mut self, list: &str) -> Result<(), String> {
        self.round_trips = list.split(',').map(duration).collect::<Result<_, _>>()?;
        self.config.pipes = self.round_trips.len() as u8;
        (self.addresses, self.granted) = (self.round_trips.len(), self.config.pipes);
        Ok(())
    }
}

fn change(config: &mut PtcpConfig, key: &str, value: &str) -> Result<(), String> {
    let on = value == "on";
    match key {
        "reassignment" => {
            config.reassignment = match value {
                "off" => Reassignment::Off,
                "timeout" => Reassignment::Timeout,
                "window" => Reassignment::Window,
                "probe" => Reassignment::Probe,
                _ => return Err(format!("no reassignment {value:?}")),
            }
        }
        "resume_order" if value == "number" => config.resume_order = ResumeOrder::Number,
        "min_silence" => config.min_silence = duration(value)?,
        "pipe_congestion" => {
            for (own, name) in config.pipe_congestion.iter_mut().zip(value.split(',')) {
                *own = Some(CongestionKind::parse(name).ok_or("no such congestion control")?);
            }
        }
        "transmit_pipes" => config.transmit_pipes = number(value)?,
        "receive_pipes" => config.receive_pipes = number(value)?,
        "reassign_to_same_pipe" => config.reassign_to_same_pipe = on,
        "redundant_striping" => config.redundant_striping = on,
        "opportunistic_retransmission" => config.opportunistic_retransmission = on,
        "recheck_unconfirmed" => config.recheck_unconfirmed = on,
        "keep_alive_check" => config.keep_alive_check = on,
        "consume_on_arrival" => config.consume_on_arrival = on,
        "loss_notification" => config.loss_notification = on,
        "coupled" => config.coupled = on,
        "send_buffer" => config.send_buffer_per_pipe = ByteCount::new(number(value)?),
        "receive_buffer" => config.receive_buffer_per_pipe = ByteCount::new(number(value)?),
        "rack_tlp" => (config.tcp.engine.rack, config.tcp.engine.tlp) = (on, on),
        "syn_retries" => config.tcp.syn_retries = number(value)?,
        "initial_window" => config.tcp.engine.initial_window_segments = number(value)?,
        _ => return Err(format!("unknown switch {key:?}")),
    }
    Ok(())
}
