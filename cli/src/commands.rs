//! One file for each command.

mod accounts;
mod agree;
mod check;
mod compare;
mod daemon;
mod demo;
mod doctor;
mod explain;
mod fetch;
mod fleet;
mod in_python;
mod invite;
mod lending;
mod manual;
mod mixes;
mod replay;
mod reproduce;
mod revoke;
mod rivals;
mod rough;
mod route;
mod run;
mod scenarios;
mod sender;
mod serve;
mod status;
mod sweep;
mod top;
mod trace;
mod up;
mod view;

use crate::args::{Arguments, Command};
use crate::failure::Failure;

/// Does what the command line asks.
pub(crate) fn dispatch(arguments: Arguments) -> Result<(), Failure> {
    match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Check(arguments) => check::run(&arguments),
        Command::Scenarios(arguments) => scenarios::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Agree(arguments) => agree::run(&arguments),
        Command::Rivals(arguments) => rivals::run(&arguments),
        Command::Sweep(arguments) => sweep::run(&arguments),
        Command::Merge(arguments) => sweep::merge(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Up(arguments) => up::up(&arguments),
        Command::Down(arguments) => up::down(&arguments),
        Command::Invite(arguments) => invite::invite(&arguments),
        Command::Join(arguments) => invite::join(&arguments),
        Command::Revoke(arguments) => revoke::run(&arguments),
        Command::Fleet(arguments) => fleet::run(&arguments),
        Command::Discover(arguments) => lending::discover(&arguments),
        Command::Offer(arguments) => lending::offer(&arguments),
        Command::Lend(arguments) => lending::lend(&arguments),
        Command::Borrow(arguments) => lending::borrow(&arguments),
        Command::Proxy(arguments) => daemon::proxy(&arguments),
        Command::Member(arguments) => daemon::member(&arguments),
        Command::Sender(arguments) => sender::run(&arguments),
        Command::Route(arguments) => route::run(&arguments),
        Command::Keygen(arguments) => daemon::keygen(&arguments),
        Command::Serve(arguments) => serve::run(&arguments),
        Command::Fetch(arguments) => fetch::run(&arguments),
        Command::Replay(arguments) => replay::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Status(arguments) => status::run(&arguments),
        Command::Top(arguments) => top::run(&arguments),
        Command::Explain(arguments) => explain::run(&arguments),
        Command::Accounts(arguments) => accounts::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Mixes(arguments) => mixes::run(&arguments),
        Command::Rough(arguments) => rough::run(&arguments),
        Command::Trace(arguments) => trace::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments),
        Command::Man(arguments) => manual::pages(&arguments),
        Command::Demo(arguments) => demo::run(&arguments),
    }
}
