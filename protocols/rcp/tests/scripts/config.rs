//! The first line of a script: which end, and changed switches.
use crate::switches::{change, plain};
use prismux_rcp::RcpConfig;
use prismux_script::{Words, number};

/// What a script begins with.
pub struct Setup {
    pub is_sender: bool,
    /// The handshake is over; the receiver's took 100 ms.
    pub is_opened: bool,
    pub config: RcpConfig,
    /// What the far end's limit is at first (a receiver's script).
    pub limit: u16,
    /// What there is to send (a sender's script), and whether more will come.
    pub bytes: u64,
    pub is_finished: bool,
}

/// Reads `receiver|sender [opened] key=value ...`.
pub fn read(words: &mut Words<'_>) -> Result<Setup, String> {
    let is_sender = match words.word("receiver or sender")? {
        "sender" => true,
        "receiver" => false,
        _ => return Err("the machine is a receiver or a sender".to_owned()),
    };
    let is_opened = words.skip("opened");
    let config = plain();
    let mut setup = Setup { is_sender, is_opened, config, limit: 60_000, bytes: 0, is_finished: false };
    for (key, value) in words.switches()? {
        match key {
            "limit" => setup.limit = number(value)?,
            "bytes" => setup.bytes = number(value)?,
            "finished" => setup.is_finished = value == "on",
            _ => change(&mut setup.config, key, value)?,
        }
    }
    Ok(setup)
}
