//! `TCP_INFO` and its MPTCP counterpart, read by offset so that older and newer kernels both answer.
use prismux_linux::socket_option;
use prismux_units::Duration;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::fd::AsFd;

/// A sender's counters, from `struct tcp_info` of linux/tcp.h.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TcpInfo {
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow-start threshold in bytes; `None` before the first loss.
    pub ssthresh_bytes: Option<u64>,
    /// Bytes sent and not acknowledged.
    pub in_flight_bytes: u64,
    /// Smoothed round trip in seconds.
    pub srtt_s: f64,
    /// Least round trip in seconds.
    pub min_rtt_s: f64,
    /// Segments sent again.
    pub retransmitted_segments: u64,
    /// Of these, those the receiver reported as duplicates; `None` before Linux 4.19.
    pub spurious_retransmissions: Option<u64>,
    /// Retransmission timeouts; `None` before Linux 6.7.
    pub timeouts: Option<u64>,
    /// Bytes sent, repetitions included.
    pub sent_bytes: u64,
    /// Bytes acknowledged.
    pub acknowledged_bytes: u64,
    /// Maximum segment size in bytes.
    pub mss_bytes: u32,
}

/// `SOL_MPTCP` and `MPTCP_TCPINFO` of linux/mptcp.h.
const SOL_MPTCP: i32 = 284;
const MPTCP_TCPINFO: i32 = 2;
/// Size of `struct mptcp_subflow_data` and the most subflows asked for.
const SUBFLOW_DATA_BYTES: usize = 16;
const MAX_SUBFLOWS: usize = 16;
/// Room for one `struct tcp_info`, which is 248 bytes in Linux 6.7 and grows.
const INFO_BYTES: usize = 320;

impl TcpInfo {
    /// What the kernel says about a TCP connection.
    ///
    /// # Errors
    /// The kernel's, see getsockopt(2).
    pub fn of(socket: impl AsFd) -> io::Result<Self> {
        let mut bytes = [0; INFO_BYTES];
        let length = socket_option::get_bytes(socket, libc::IPPROTO_TCP, libc::TCP_INFO, &mut bytes)?;
        Ok(Self::parse(&bytes[..length]))
    }

    /// What the kernel says about each subflow of an MPTCP connection.
    ///
    /// # Errors
    /// The kernel's: it has no MPTCP, or the connection is none.
    pub fn of_subflows(socket: impl AsFd) -> io::Result<Vec<Self>> {
        let mut bytes = [0; SUBFLOW_DATA_BYTES + MAX_SUBFLOWS * INFO_BYTES];
        bytes[0..4].copy_from_slice(&(SUBFLOW_DATA_BYTES as u32).to_ne_bytes());
        bytes[12..16].copy_from_slice(&(INFO_BYTES as u32).to_ne_bytes());
        socket_option::get_bytes(socket, SOL_MPTCP, MPTCP_TCPINFO, &mut bytes)?;
        let word =
            |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]) as usize;
        // The kernel lays its entries side by side, each as long as the shorter of its idea and ours.
        let (count, entry_bytes) = (word(4).min(MAX_SUBFLOWS), word(12).clamp(1, INFO_BYTES));
        Ok(bytes[SUBFLOW_DATA_BYTES..].chunks(entry_bytes).take(count).map(Self::parse).collect())
    }

    /// Reads the fields that are there.
    fn parse(bytes: &[u8]) -> Self {
        let u32_at =
            |at: usize| bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_ne_bytes);
        let u64_at =
            |at: usize| bytes.get(at..at + 8).and_then(|b| b.try_into().ok()).map(u64::from_ne_bytes);
        let u16_at =
            |at: usize| bytes.get(at..at + 2).and_then(|b| b.try_into().ok()).map(u16::from_ne_bytes);
        let mss = u32_at(16).unwrap_or(0);
        let micros = |at: usize| f64::from(u32_at(at).unwrap_or(0)) / 1e6;
        Self {
            cwnd_bytes: u64::from(u32_at(80).unwrap_or(0)) * u64::from(mss),
            // The kernel begins with a threshold that nothing reaches.
            ssthresh_bytes: u32_at(76).filter(|&n| n < 0x7fff_ffff).map(|n| u64::from(n) * u64::from(mss)),
            in_flight_bytes: u64::from(u32_at(24).unwrap_or(0)) * u64::from(mss),
            srtt_s: micros(68),
            min_rtt_s: micros(148),
            retransmitted_segments: u64::from(u32_at(100).unwrap_or(0)),
            spurious_retransmissions: u32_at(216).map(u64::from),
            timeouts: u16_at(240).map(u64::from),
            sent_bytes: u64_at(200).unwrap_or(0),
            acknowledged_bytes: u64_at(120).unwrap_or(0),
            mss_bytes: mss,
        }
    }

    /// The smoothed round trip.
    pub fn srtt(&self) -> Duration {
        Duration::from_secs_f64(self.srtt_s)
    }
}
