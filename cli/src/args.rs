//! The command line.

mod check;
mod daemon;
mod fetch;
mod fleet;
mod lab;
mod lending;
mod manual;
mod mixes;
mod number;
mod reproduce;
mod rough;
mod route;
mod sender;
mod sweep;
mod trace;
mod up;

pub(crate) use check::CheckArguments;
pub(crate) use daemon::{
    AccountsArguments, DaemonArguments, ExplainArguments, KeygenArguments, LogFormatName, Period,
    ProxyArguments, StatusArguments, TopArguments,
};
pub(crate) use fetch::{FetchArguments, ServeArguments};
pub(crate) use fleet::{FleetArguments, FleetCommand};
pub(crate) use lab::{AgreeArguments, RivalsArguments};
pub(crate) use lending::{BorrowArguments, DiscoverArguments, LendArguments, OfferArguments};
pub(crate) use manual::{CompletionsArguments, ManArguments};
pub(crate) use mixes::MixesArguments;
pub(crate) use reproduce::{ReproduceArguments, ReproduceBackend};
pub(crate) use rough::RoughArguments;
pub(crate) use route::RouteArguments;
pub(crate) use sender::{EnableArguments, SenderArguments, SenderCommand};
pub(crate) use sweep::{MergeArguments, PolicyArguments, SweepArguments};
pub(crate) use trace::{TraceArguments, TraceKind};
pub(crate) use up::{DownArguments, InviteArguments, JoinArguments, RevokeArguments, UpArguments};

use clap::{Args, Parser, Subcommand, ValueEnum};
use number::{count, seed};
use prismux_scenario::registry::Backend;
use std::path::PathBuf;

/// Several weak links used as one good one.
#[derive(Debug, Parser)]
#[command(version, about, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Exit codes: 0 done, 1 failed, 2 usage or a bad file.\nExample: prismux run two-members"
)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run a scenario and print what its flows and links achieved.
    #[command(after_help = "Examples:\n  \
            prismux run two-members\n  \
            prismux run my.toml --runs 10 --set links.wwan2.delay=900ms --json\n  \
            prismux run bufferbloat --variant codel --delays --series 500ms\n  \
            prismux run demo-today --on lab")]
    Run(RunArguments),
    /// Read scenario files and say, by line, everything that is wrong with them.
    #[command(after_help = "Examples:\n  prismux check my.toml other.toml\n  \
            prismux check demo-2005 --set links.wwan2.delay=900ms --merged > mine.toml")]
    Check(CheckArguments),
    /// List the scenarios that come with prismux, or print one.
    #[command(
        after_help = "Examples:\n  prismux scenarios\n  prismux scenarios --show two-members > my.toml"
    )]
    Scenarios(ScenariosArguments),
    /// Run the variants of a scenario and print them side by side.
    #[command(after_help = "Examples:\n  \
            prismux compare demo-today\n  \
            prismux compare prism-delay-disparity --variants prism,vanilla\n  \
            prismux compare bufferbloat --svg bufferbloat.svg\n  \
            prismux compare mix-20-20 --variants single,prism --scheduler my_policies:Patient")]
    Compare(CompareArguments),
    /// Run scenarios in the lab and in the simulator and say by how much they differ.
    #[command(after_help = "Examples:\n  \
            prismux agree\n  \
            prismux agree prism-delay-disparity --runs 8 --set links.wwan2.forward.delay=900ms\n  \
            prismux agree --mptcp-mixes 20 --runs 1 --jobs 1\n  \
            prismux agree --bbr-mixes 20 --runs 1 --jobs 1")]
    Agree(AgreeArguments),
    /// PRISM against a single link, plain striping and kernel MPTCP in the lab, with cubic and bbr.
    #[command(after_help = "Examples:\n  prismux rivals\n  prismux rivals mix-20-20 demo-2005 --runs 3")]
    Rivals(RivalsArguments),
    /// Run a scenario at every point of some axes, with several seeds, into one Parquet file.
    #[command(after_help = "Examples:\n  \
            prismux sweep prism-delay-disparity --over links.wwan2.forward.delay=500ms..1000ms/50ms --seeds 10\n  \
            prismux sweep two-members --over nodes.proxy.scheduler=adas,earliest-arrival --over \
            links.wwan2.loss=0.001..0.1*10\n  \
            prismux sweep mptcp-schedulers --over flows.download.tcp.window=200kB,400kB \
            --subflow-scheduler waiting:Blest\n\n\
            An interrupted sweep goes on when the same command is given again.")]
    Sweep(SweepArguments),
    /// Make one file of the results of several sweeps; a task that is there twice counts once.
    #[command(after_help = "Example: prismux merge --out all.parquet here.parquet there.parquet")]
    Merge(MergeArguments),
    /// Repeat published experiments and judge every claim.
    #[command(after_help = "Examples:\n  \
            prismux reproduce prism --quick\n  \
            prismux reproduce prism --only T1,PR-005 --json\n  \
            prismux reproduce all --quick --json > results/claims.json\n  \
            prismux reproduce queueing --out results/queueing")]
    Reproduce(ReproduceArguments),
    /// Bond the uplinks of this box, or be the gateway of one that does: what the file says, until Ctrl-C or
    /// `prismux down`.
    #[command(after_help = "Examples:\n  \
            prismux up --config /etc/prismux/gateway.toml\n  \
            prismux up --config /etc/prismux/home.toml --detach\n\n\
            The guide \"Two uplinks in ten minutes\" has both files.")]
    Up(UpArguments),
    /// End what `prismux up` has begun, and leave routes, rules, NAT and settings as they were before.
    #[command(after_help = "Example: prismux down")]
    Down(DownArguments),
    /// At a gateway: let a home in. Prints the invitation that `prismux join` takes: where the gateway is, and keys.
    #[command(after_help = "Example: prismux invite house --endpoint 192.0.2.1:51820\n\n\
            The first invitation makes the gateway's file and key. Whoever has the invitation is that home.")]
    Invite(InviteArguments),
    /// At a home: take an invitation, and write the file for `prismux up`.
    #[command(after_help = "Examples:\n  \
            prismux join prismux:1:...\n  \
            prismux join prismux:1:... --uplink eth0 --uplink wwan0")]
    Join(JoinArguments),
    Revoke(RevokeArguments),
    Fleet(FleetArguments),
    /// Look for neighbours who lend an uplink. Exit code 1 if nobody answers.
    #[command(after_help = "Examples:\n  prismux discover\n  prismux discover --device wlan0 --json")]
    Discover(DiscoverArguments),
    /// Offer this host's uplink to neighbours, on named networks only, until Ctrl-C. Nobody is let in by that.
    #[command(after_help = "Example: prismux offer kitchen-lte --device wlan0")]
    Offer(OfferArguments),
    /// At the host that offers its uplink: see who asks, and say yes or no.
    #[command(after_help = "Examples:\n  prismux lend\n  prismux lend 7Q2M-XK4D-0VBT-93HA\n  \
            prismux lend 7Q2M-XK4D-0VBT-93HA --refuse\n\nIt writes the file for `prismux member`.")]
    Lend(LendArguments),
    /// Ask a neighbour for an uplink, and print what your proxy's file then needs.
    #[command(
        after_help = "Example: prismux borrow 3M8R-P6ZD-11KW-XV5C --name ann --proxy 192.0.2.1:51820 \\\n  \
            --proxy-key hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo= --receiver 10.77.0.2/32"
    )]
    Borrow(BorrowArguments),
    /// Serve as the proxy that splits downloads over members.
    #[command(after_help = "Example: prismux proxy --config /etc/prismux/proxy.toml")]
    Proxy(ProxyArguments),
    /// Lend this host's uplink to a proxy's community.
    #[command(after_help = "Example: prismux member --config /etc/prismux/member.toml")]
    Member(DaemonArguments),
    /// On a host that sends: have the kernel's TCP heed a proxy's loss reports, and decrease by what they say.
    #[command(
        after_help = "Examples:\n  prismux sender enable\n  prismux sender status\n  prismux sender disable\n\n\
            The guide \"Servers that heed loss reports\" says when it pays."
    )]
    Sender(SenderArguments),
    /// Be a host of an ad-hoc network, until Ctrl-C: find routes over neighbours and relay for them, by DSR, AODV or
    /// DSDV.
    #[command(after_help = "Examples:\n  \
            prismux route --protocol dsr --address 10.9.0.3/16 --radio wlan0\n  \
            prismux route --protocol aodv --hello --address 10.9.0.3/16 --radio wlan0 --device mesh1\n\n\
            All hosts speak one protocol, on one Ethernet or wireless LAN (such as an IBSS: iw dev wlan0 ibss join \
            NAME 2412), each with an address of its own. The interface needs none.")]
    Route(RouteArguments),
    /// Make a private key for sealed tunnels, and print the public key that goes with it.
    #[command(after_help = "Example: prismux keygen /etc/prismux/key\n\n\
            A key that is there already stays: its public key is printed. What wg genkey prints is a key too.")]
    Keygen(KeygenArguments),
    /// Serve the files below a folder to `prismux fetch`, sealed, over UDP.
    #[command(after_help = "Examples:\n  \
            prismux serve /srv/images\n  \
            prismux serve . --listen 192.0.2.7:4717 --cap 50Mbit/s\n\n\
            It prints the URL that clients need; the key in it stays the same as long as the key file does.")]
    Serve(ServeArguments),
    /// Fetch one file over several interfaces, from several servers that hold it; goes on where it was interrupted.
    #[command(after_help = "Examples:\n  \
            prismux fetch prismux://KEY@192.0.2.7:4717/disk.img\n  \
            prismux fetch prismux://KEY1@near.example/disk.img prismux://KEY2@far.example/disk.img --via \
            wwan0,wlan0\n  \
            prismux fetch URL --via wwan0,wlan0 --rate 720kbit/s --cost wwan0=high\n  \
            prismux fetch URL --via wwan0,wlan0 --transport ptcp\n  \
            prismux fetch URL --share secret --neighbours 192.168.7.2,192.168.7.3\n\n\
            Exit codes: 0 the file is complete and its digest right, 1 failed, 2 usage, 130 interrupted (the \
            same command goes on).")]
    Fetch(FetchArguments),
    /// Repeat what a proxy recorded through its core and compare every decision.
    #[command(after_help = "Examples:\n  \
            prismux proxy --config proxy.toml --record proxy.pcapng\n  \
            prismux replay proxy.pcapng")]
    Replay(ReplayArguments),
    /// Look at recorded runs in the browser: who sent, lost, held and released what, windows, link shares, buffers.
    #[command(after_help = "Examples:\n  \
            prismux run demo-today --record results/today\n  \
            prismux view results/today\n  \
            prismux view results/today results/lab\n  \
            prismux view results/today --export page")]
    View(ViewArguments),
    /// Ask a running proxy or member how it is.
    #[command(after_help = "Example: prismux status --json")]
    Status(StatusArguments),
    /// Watch running daemons: what each link carries, whether it is used and why not, what was decided. q ends it.
    #[command(after_help = "Examples:\n  prismux top\n  prismux top --once")]
    Top(TopArguments),
    /// Say for each link in a sentence whether it is used, and why not.
    #[command(after_help = "Examples:\n  prismux explain\n  prismux explain wan1")]
    Explain(ExplainArguments),
    /// Say what links have carried, by billing month or day, also before the daemons were last started.
    #[command(
        after_help = "Examples:\n  prismux accounts\n  prismux accounts --by day --csv > accounts.csv\n  \
        prismux accounts --signed --json > statements.json\n  prismux accounts --verify statements.json"
    )]
    Accounts(AccountsArguments),
    /// Say what this machine can do: TUN devices, namespaces, MPTCP, congestion controls.
    #[command(after_help = "Example: prismux doctor")]
    Doctor(JsonArguments),
    /// Random mixes of two to five links, simulated: PRISM against the best single link and against capacity.
    #[command(after_help = "Examples:\n  \
            prismux mixes --quick\n  \
            prismux mixes --variants single,prism --warm 20 --steady 15 --svg mixes.svg")]
    Mixes(MixesArguments),
    /// Links as users have them (jitter, reordering, changing rates, outages, recorded links): PRISM against the best
    /// single link, in the lab beside the kernel's MPTCP.
    #[command(after_help = "Examples:\n  \
            prismux rough --quick\n  \
            prismux rough --only b-rate,b-reorder --seeds 10 --svg rough.svg\n  \
            prismux rough --traces recordings --only trace-\n  \
            prismux rough --on lab --only a-jitter\n\n\
            It exits with 0 whatever the verdicts are; --json has them.")]
    Rough(RoughArguments),
    /// Make a delivery trace from a seed, in the format of Mahimahi: when packets may leave a link that varies.
    #[command(after_help = "Examples:\n  \
            prismux trace lte > lte.down\n  \
            prismux trace lte --rate 8Mbit/s --seconds 600 --seed 7 > other.down")]
    Trace(TraceArguments),
    /// Print what completes this command's words in a shell.
    #[command(after_help = "Examples:\n  \
            prismux completions bash > /usr/share/bash-completion/completions/prismux\n  \
            source <(prismux completions zsh)\n\n\
            The Debian package has them in place.")]
    Completions(CompletionsArguments),
    /// Write the manual pages to a folder: one for each command.
    #[command(after_help = "Example: prismux man /usr/local/share/man/man1")]
    Man(ManArguments),
    /// A real download in the lab by each way of using the links: one table, one picture.
    #[command(after_help = "Example: prismux demo --out demo.svg")]
    Demo(DemoArguments),
}

/// What all runs take.
#[derive(Debug, Clone, Args)]
pub(crate) struct Common {
    /// Who carries the packets.
    #[arg(long, value_name = "BACKEND", default_value = "sim")]
    pub on: BackendName,
    /// Seed of every random stream; run k of several uses seed + k - 1.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Change one value of the scenario; may be given several times.
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Most runs at the same time [default: one for each processor].
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BackendName {
    /// The packet simulator, in virtual time.
    Sim,
    /// Linux network namespaces, in real time.
    Lab,
}

impl From<BackendName> for Backend {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Sim => Self::Sim,
            BackendName::Lab => Self::Lab,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A scenario file, or the name of a shipped scenario.
    #[arg(value_name = "FILE|NAME")]
    pub scenario: String,
    #[command(flatten)]
    pub common: Common,
    /// Run a variant of the scenario.
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Number of runs, each with a seed of its own; more than one prints means and 95 % intervals.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = count(1..=1_000_000), allow_negative_numbers = true)]
    pub runs: u64,
    /// Take the one-way delay of every data packet: mean, percentiles, jitter (short for --set measure.delays=true).
    #[arg(long)]
    pub delays: bool,
    /// Sample flows and links at this interval (short for --set measure.interval=...), for a table or the JSON.
    #[arg(long, value_name = "DURATION")]
    pub series: Option<String>,
    /// Write a packet capture of every link to this folder (pcapng, one interface for each link).
    #[arg(long, value_name = "DIR")]
    pub pcap: Option<PathBuf>,
    /// Record the run in this folder: every event (see `prismux view`) and, in the lab, what each proxy is told and
    /// decides (see `prismux replay`).
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Write every event of the run to this file alone, one JSON object on a line.
    #[arg(long, value_name = "FILE", conflicts_with = "record")]
    pub events: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ScenariosArguments {
    /// Print the text of this scenario.
    #[arg(long, value_name = "NAME")]
    pub show: Option<String>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A scenario file, or the name of a shipped scenario.
    #[arg(value_name = "FILE|NAME")]
    pub scenario: String,
    #[command(flatten)]
    pub common: Common,
    /// Variants to compare [default: those of the file, else single, striping, mptcp (lab), prism, tcp-prism].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub variants: Vec<String>,
    /// Number of runs of each variant, each with a seed of its own.
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = count(1..=1_000_000), allow_negative_numbers = true)]
    pub runs: u64,
    #[command(flatten)]
    pub policies: PolicyArguments,
    /// Draw delays and goodputs over time, of the first seed, into this file (needs measure.interval).
    #[arg(long, value_name = "FILE", help_heading = "Options")]
    pub svg: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// Recordings of proxies.
    #[arg(value_name = "FILE", required = true)]
    pub recordings: Vec<PathBuf>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ViewArguments {
    /// A folder that `prismux run --record` wrote, or an event log; a second one is shown beside it.
    #[arg(value_name = "RUN", required = true, num_args = 1..=2)]
    pub runs: Vec<PathBuf>,
    /// Port of the page on 127.0.0.1 [default: any that is free].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub port: u16,
    /// Print the page's address and open no browser.
    #[arg(long)]
    pub no_open: bool,
    /// Write the page into this folder, to be opened without prismux, and end.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["port", "no_open"])]
    pub export: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct JsonArguments {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct DemoArguments {
    /// Where the picture goes.
    #[arg(long, value_name = "FILE", default_value = "prismux-demo.svg")]
    pub out: PathBuf,
    /// Seed of every random stream.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// Who carries the packets.
    #[arg(long, value_name = "BACKEND", default_value = "lab")]
    pub on: BackendName,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}
