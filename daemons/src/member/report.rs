//! What `prismux status` shows of a member.
use super::Member;
use super::neighbours;
use super::registration::State;
use super::rights::NO_RIGHTS;
use super::settlements::{CreditReport, Lending};
use crate::accounts::Booked;
use crate::counters::DropCounters;
use crate::events::Shown;
use crate::proxy::members::Traffic;
use crate::{statements, workers};
use prismux_units::{Duration, Instant};
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;

/// The status page of a member. `forward` is towards the receivers. Times in seconds.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    role: &'static str,
    version: &'static str,
    /// Its process.
    pid: u32,
    name: &'a str,
    uptime_s: f64,
    proxy: String,
    state: &'static str,
    rtt_s: Option<f64>,
    /// Why it is not to be used for now.
    rests: Option<String>,
    #[serde(flatten)]
    booked: Booked,
    accounts_file: Option<&'a Path>,
    /// What it and the proxy have signed, where both have keys.
    statements: Option<statements::Report>,
    /// What the proxy owes.
    credit: Option<CreditReport>,
    statements_file: Option<&'a Path>,
    device: &'a str,
    mtu_bytes: usize,
    #[serde(flatten)]
    traffic: Traffic,
    /// Who stands in for it.
    neighbours: Option<neighbours::Report>,
    /// Receipts written, where the proxy asks for them, and their bytes on the link.
    receipts: Option<u64>,
    receipt_bytes: Option<u64>,
    /// Packets that the link lost and repairs gave back.
    recovered_packets: Option<u64>,
    drops: &'a DropCounters,
    /// Threads that seal, send and open, if there are any.
    workers: Option<workers::Report>,
    events: &'a VecDeque<Shown>,
}

pub(super) fn report(member: &Member, now: Instant) -> Report<'_> {
    Report {
        role: "member",
        version: env!("CARGO_PKG_VERSION"),
        pid: std::process::id(),
        name: &member.config.name,
        uptime_s: now.as_secs_f64(),
        proxy: member.config.tunnel.proxy.to_string(),
        state: match member.registration.state() {
            State::Calling => "calling",
            State::Registered => "registered",
        },
        rtt_s: member.registration.rtt().map(Duration::as_secs_f64),
        rests: match member.is_revoked() {
            true => Some(NO_RIGHTS.to_owned()),
            false => member.share.rest().map(|rest| rest.to_string()),
        },
        booked: member.accounts.booked(member.account.link(), member.share.terms()),
        accounts_file: member.accounts.file(),
        statements: member.lending.as_ref().map(Lending::report),
        credit: member.lending.as_ref().map(Lending::credit_report),
        statements_file: member.lending.as_ref().and_then(Lending::file),
        device: member.tun.name(),
        mtu_bytes: member.inner_mtu_bytes,
        traffic: member.traffic,
        neighbours: member.neighbours.as_ref().map(neighbours::Neighbours::report),
        receipts: member.receipts.counters().map(|counters| counters.receipts),
        receipt_bytes: member.receipts.counters().map(|counters| counters.receipt_bytes),
        recovered_packets: member.receipts.counters().map(|counters| counters.recovered_packets),
        drops: &member.drops,
        workers: member.workers.report(),
        events: member.events.shown(),
    }
}
