mod policies;

use super::axis::{Axis, in_base_unit};
use super::local::{run, run_task};
use super::merge::{merge, tasks};
use super::{
    Effects, Others, PlanError, Row, Store, StoreError, SweepRequest, Task, TaskMessage, parquet, plan,
};
use crate::policies::Policies;
use arrow_array::cast::AsArray;
use arrow_array::types::Float64Type;
use prismux_scenario::ScenarioFile;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

const TEXT: &str = r#"
    duration = "2 s"
    nodes = { a = { kind = "host" }, b = { kind = "host" } }
    links.wire = { between = ["a", "b"], rate = "1 Mbit/s", delay = "20 ms", loss = 0.01 }
    flows.file = { from = "a", to = "b", bytes = "50 kB" }
    [variants.far]
    links.wire.delay = "100 ms"
"#;

fn request(axes: &[&str], seeds: u64) -> SweepRequest {
    SweepRequest {
        file: ScenarioFile::from_text("wire.toml", TEXT),
        set: Vec::new(),
        variants: Vec::new(),
        axes: axes.iter().map(|axis| Axis::parse(axis).unwrap()).collect(),
        first_seed: 1,
        seeds,
        policies: Vec::new(),
    }
}

fn none() -> Policies {
    Policies::default()
}

fn one_row() -> Row {
    run_task(&plan(&request(&[], 1)).unwrap()[0], &none(), None).unwrap()
}

/// A folder of this test's own, removed afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("prismux-study-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn target(&self) -> PathBuf {
        self.0.join("runs.parquet")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn ids(tasks: &[Task]) -> Vec<String> {
    tasks.iter().map(|task| task.id.clone()).collect()
}

fn sweep(folder: &Folder, request: &SweepRequest) -> arrow_array::RecordBatch {
    let tasks = plan(request).unwrap();
    let store = Store::open(&folder.target(), &request.axes, "wire", &tasks, Others::Refuse).unwrap();
    finish(&tasks, store)
}

/// Runs what is missing, and closes the store.
fn finish(tasks: &[Task], store: Store) -> arrow_array::RecordBatch {
    finish_with(tasks, &none(), store)
}

fn finish_with(tasks: &[Task], policies: &Policies, store: Store) -> arrow_array::RecordBatch {
    let store = Mutex::new(store);
    run(tasks, policies, &store, 2, &Arc::new(AtomicBool::new(false)), || ()).unwrap();
    store.into_inner().unwrap().finish().unwrap()
}

/// The store for whatever is there already.
fn open(folder: &Folder, axes: &[Axis]) -> Result<Store, StoreError> {
    Store::open(&folder.target(), axes, "wire", &[], Others::Keep)
}

#[test]
fn axes_are_lists_and_ranges() {
    let values = |text: &str| Axis::parse(text).unwrap().values;
    assert_eq!(values("p=1,2, 3"), ["1", "2", "3"]);
    assert_eq!(values("p=500ms..600ms/50ms"), ["500 ms", "550 ms", "600 ms"]);
    assert_eq!(values("p=500..600ms/50"), ["500 ms", "550 ms", "600 ms"]);
    assert_eq!(values("p=0.1..0.5/0.2"), ["0.1", "0.3", "0.5"]);
    assert_eq!(values("p=1 Mbit/s..2 Mbit/s/0.5 Mbit/s"), ["1 Mbit/s", "1.5 Mbit/s", "2 Mbit/s"]);
    assert_eq!(values("p=0.001..1*10"), ["0.001", "0.01", "0.1", "1"]);
    assert_eq!(values("p=1e-3..3e-3/1e-3"), ["0.001", "0.002", "0.003"]);
    assert_eq!(values("p=3..1/-1"), ["3", "2", "1"]);
    assert_eq!(values("p={ a = 1, b = 2 },[1, 2]"), ["{ a = 1, b = 2 }", "[1, 2]"]);
    assert_eq!(values("p=adas,round-robin"), ["adas", "round-robin"]);
}

#[test]
fn an_axis_that_makes_no_sense_is_refused_with_its_form() {
    for text in [
        "p",
        "=1",
        "p=",
        "p=1,,2",
        "p=1..2",
        "p=1..2/0",
        "p=2..1/1",
        "p=1ms..2s/1ms",
        "p=0..1*2",
        "p=1..2*1",
        "p=a..b/c",
        "p=0..1/1e-9",
    ] {
        let error = Axis::parse(text).expect_err(text);
        assert!(error.to_string().contains("links.wwan2.delay=500ms..1000ms/50ms"), "{error}");
    }
}

#[test]
fn a_range_that_leads_nowhere_is_told_what_does() {
    let said = |text: &str| Axis::parse(text).expect_err(text).to_string();
    let both = |text: &str, found: &str, remedy: &str| {
        let message = said(text);
        assert!(message.contains(found) && message.ends_with(&format!("remedy: {remedy}")), "{message}");
    };
    both("p=5..1/1", "\"5..1\" falls, and \"/1\" rises", "\"1..5/1\" or \"5..1/-1\"");
    both("p=1 ms..5 ms/-1 ms", "\"1 ms..5 ms\" rises", "\"5 ms..1 ms/-1 ms\" or \"1 ms..5 ms/1 ms\"");
    both("p=8..1*2", "\"8..1\" falls, and \"*2\" rises", "\"1..8*2\" or \"8..1*0.5\"");
    both("p=1..5/0", "\"1..5/0\" has a step of 0", "a step other than 0");
    both("p=1..5*1", "\"1..5*1\" has the factor 1", "a factor above 1, or below it to fall");
    both("p=0..1*2", "\"0..1*2\" multiplies", "ends above 0, or \"0..1/STEP\"");
    both(
        "p=5..1",
        "\"5..1\" has no step",
        "a step behind it, as in \"0..10/2\", or the values with commas between",
    );
    for remedy in ["p=1..5/1", "p=5..1/-1", "p=1..8*2", "p=8..1*0.5"] {
        assert!(Axis::parse(remedy).unwrap().values.len() > 3, "{remedy}");
    }
}

#[test]
fn quantities_have_numbers_in_the_base_unit() {
    assert_eq!(in_base_unit("500 ms"), Some((0.5, "s")));
    assert_eq!(in_base_unit("600kbit/s"), Some((600_000.0, "bit/s")));
    assert_eq!(in_base_unit("0.6 %"), Some((0.006, "1")));
    assert_eq!(in_base_unit("14 MB"), Some((14e6, "B")));
    assert_eq!(in_base_unit("1 bdp"), None);
}

#[test]
fn tasks_are_told_apart_by_all_that_decides_their_result_and_by_nothing_else() {
    let base = request(&["links.wire.delay=10ms,20ms"], 3);
    let tasks = plan(&base).unwrap();
    assert_eq!(tasks.len(), 6);
    let mut all: HashSet<String> = ids(&tasks).into_iter().collect();
    assert_eq!(all.len(), 6);
    for other in [
        SweepRequest { first_seed: 4, ..base.clone() },
        SweepRequest { set: vec!["links.wire.rate=2 Mbit/s".to_string()], ..base.clone() },
        SweepRequest { variants: vec!["far".to_string()], ..base.clone() },
        request(&["links.wire.delay=30ms,40ms"], 3),
    ] {
        for id in ids(&plan(&other).unwrap()) {
            assert!(all.insert(id), "two tasks with one id");
        }
    }
    // Comments, names and unused variants decide nothing.
    let text = TEXT
        .replace("duration", "# slow\n summary = \"x\"\n duration")
        .replace("[variants.far]", "[variants.near]");
    let renamed = SweepRequest { file: ScenarioFile::from_text("other.toml", text), ..base.clone() };
    assert_eq!(ids(&plan(&renamed).unwrap()), ids(&tasks));
}

#[test]
fn every_point_is_checked_before_the_first_run() {
    for (axis, reason) in [
        ("links.wyre.delay=1ms,2ms", "there is no \"wyre\""),
        ("links.wire.dealy=1ms,2ms", "dealy"),
        ("links.wire.delay=1ms,2apples", "2apples"),
        ("flows.file.transport=tcp,tcp-prism", "proxy"),
    ] {
        let error = plan(&request(&[axis], 1)).expect_err(axis);
        assert!(error.to_string().contains(reason), "{error}");
    }
    let twice = request(&["links.wire.delay=1ms,2ms", "links.wire.delay=3ms,4ms"], 1);
    assert!(matches!(plan(&twice), Err(PlanError::Sweep(_))));
    assert!(matches!(plan(&request(&[], 0)), Err(PlanError::Sweep(_))));
}

#[test]
fn a_task_survives_the_way_to_another_process_and_a_changed_one_is_refused() {
    let base = request(&["links.wire.delay=10ms,20ms"], 1);
    let task = &plan(&base).unwrap()[1];
    let text = serde_json::to_string(&task.message(&base)).unwrap();
    let message: TaskMessage = serde_json::from_str(&text).unwrap();
    let there = message.task().unwrap();
    assert_eq!(there.id, task.id);
    assert_eq!(run_task(&there, &none(), None).unwrap(), run_task(task, &none(), None).unwrap());
    let other = TaskMessage { set: vec!["links.wire.rate=2 Mbit/s".to_string()], ..message };
    assert!(matches!(other.task(), Err(PlanError::Sweep(_))));
}

#[test]
fn a_sweep_writes_one_row_for_each_task_in_order_with_quantities_as_numbers() {
    let folder = Folder::new("order");
    let request = request(&["links.wire.delay=10ms..30ms/10ms", "links.wire.queue=1 bdp,50 packets"], 2);
    let table = sweep(&folder, &request);
    assert_eq!(tasks(&table), ids(&plan(&request).unwrap()));
    let delays = table.column_by_name("links.wire.delay").unwrap().as_primitive::<Float64Type>();
    assert_eq!(delays.values()[..5], [0.01, 0.01, 0.01, 0.01, 0.02]);
    let queues = table.column_by_name("links.wire.queue").unwrap().as_string::<i32>();
    assert_eq!((queues.value(1), queues.value(2)), ("1 bdp", "50 packets"));
    assert_eq!(parquet::read(&folder.target()).unwrap(), table);
    assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 1, "nothing but the result stays");
}

#[test]
fn an_interrupted_sweep_resumes_and_ends_as_if_it_had_not_been_interrupted() {
    let (whole, broken) = (Folder::new("whole"), Folder::new("broken"));
    let request = request(&["links.wire.delay=10ms,20ms"], 3);
    let expected = sweep(&whole, &request);
    let tasks = plan(&request).unwrap();
    let mut store = open(&broken, &request.axes).unwrap();
    for task in &tasks[..2] {
        assert!(store.add(run_task(task, &none(), None).unwrap()).unwrap());
    }
    drop(store);
    // The interruption came in the middle of a line.
    let journal = broken.0.join("runs.parquet.parts/journal");
    let mut text = fs::read_to_string(&journal).unwrap();
    text.push_str("{\"task\":\"00");
    fs::write(&journal, text).unwrap();
    let store = open(&broken, &request.axes).unwrap();
    assert_eq!(store.len(), 2);
    drop(store);
    assert_eq!(sweep(&broken, &request), expected);
    assert_eq!(fs::read(broken.target()).unwrap(), fs::read(whole.target()).unwrap());
}

#[test]
fn more_seeds_later_keep_what_is_there() {
    let folder = Folder::new("more");
    sweep(&folder, &request(&["links.wire.delay=10ms,20ms"], 1));
    let store = open(&folder, &[]).unwrap();
    assert_eq!(store.len(), 2);
    drop(store);
    assert_eq!(sweep(&folder, &request(&["links.wire.delay=10ms,20ms"], 3)).num_rows(), 6);
}

#[test]
fn a_task_counts_once_however_often_it_is_done() {
    let folder = Folder::new("once");
    let request = request(&[], 1);
    let task = &plan(&request).unwrap()[0];
    let mut store =
        Store::open(&folder.target(), &[], "wire", std::slice::from_ref(task), Others::Refuse).unwrap();
    let row = run_task(task, &none(), None).unwrap();
    assert!(store.add(row.clone()).unwrap());
    assert!(!store.add(row).unwrap());
    assert_eq!(store.finish().unwrap().num_rows(), 1);
}

#[test]
fn partial_results_of_two_machines_merge() {
    let (one, two, both) = (Folder::new("one"), Folder::new("two"), Folder::new("both"));
    let low = sweep(&one, &request(&["links.wire.delay=10ms,20ms"], 2));
    let high = sweep(&two, &request(&["links.wire.delay=20ms,30ms"], 2));
    let all = request(&["links.wire.delay=10ms,20ms,30ms"], 2);
    let merged = merge(&[high, low], &ids(&plan(&all).unwrap())).unwrap();
    assert_eq!(merged, sweep(&both, &all));
}

#[test]
fn sweeps_that_do_not_belong_together_are_refused_before_the_first_run() {
    let folder = Folder::new("apart");
    sweep(&folder, &request(&["links.wire.queue=10 kB"], 1));
    let axes = [Axis::parse("links.wire.queue=10 kB,unlimited").unwrap()];
    let error = open(&folder, &axes).unwrap_err();
    assert!(error.to_string().contains("do not belong together"), "{error}");
}

#[test]
fn damaged_and_foreign_files_are_refused_with_their_reason() {
    let folder = Folder::new("damaged");
    sweep(&folder, &request(&["links.wire.delay=10ms,20ms"], 2));
    let bytes = fs::read(folder.target()).unwrap();
    let refuse = |bytes: &[u8], reason: &str| {
        fs::write(folder.target(), bytes).unwrap();
        let error = open(&folder, &[]).unwrap_err();
        assert!(error.to_string().contains("runs.parquet: "), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
        assert!(!folder.0.join("runs.parquet.parts").exists(), "nothing is made beside a refused file");
    };
    refuse(b"", "no whole Parquet file");
    refuse(b"task,seed\n1,2\n", "no whole Parquet file");
    refuse(&bytes[..bytes.len() / 2], "no whole Parquet file");
    let foreign = crate::table::flows(&one_row().result);
    parquet::write(&folder.target(), &foreign).unwrap();
    refuse(&fs::read(folder.target()).unwrap(), "not the result of a sweep");
    fs::remove_file(folder.target()).unwrap();
    let error = parquet::read(&folder.target()).unwrap_err();
    assert!(error.to_string().contains("cannot read"), "{error}");
}

#[test]
fn two_sweeps_do_not_write_to_one_file() {
    let folder = Folder::new("busy");
    let _first = open(&folder, &[]).unwrap();
    assert!(matches!(open(&folder, &[]), Err(StoreError::Busy(_))));
}

#[test]
fn a_row_that_is_none_is_refused() {
    assert!(Row::from_json("{}").unwrap_err().contains("not the row of a task"));
}

#[test]
fn a_row_from_another_process_is_the_same_to_the_last_bit() {
    let mut row = one_row();
    for k in 1..2000 {
        row.result.total.goodput_bps = f64::from(k) * 1e6 / 7.0;
        assert_eq!(Row::from_json(&row.to_json()).unwrap(), row);
    }
}

#[test]
fn rows_of_an_edited_file_are_refused_kept_apart_or_pruned_and_never_mix() {
    let folder = Folder::new("edited");
    let before = request(&["links.wire.delay=10ms,20ms"], 1);
    sweep(&folder, &before);
    let text = TEXT.replace("1 Mbit/s", "2 Mbit/s");
    let after = SweepRequest { file: ScenarioFile::from_text("wire.toml", text), ..before.clone() };
    let tasks = plan(&after).unwrap();
    let open = |others| Store::open(&folder.target(), &after.axes, "wire", &tasks, others);
    let refused = open(Others::Refuse).unwrap_err();
    assert!(matches!(refused, StoreError::OtherRows { count: 2, .. }), "{refused}");
    let expected = sweep(&Folder::new("fresh"), &after);
    let stored = || super::merge::tasks(&parquet::read(&folder.target()).unwrap()).len();
    assert_eq!(
        finish(&tasks, open(Others::Keep).unwrap()),
        expected,
        "the table holds this plan's rows only"
    );
    assert_eq!(stored(), 4);
    assert_eq!(finish(&tasks, open(Others::Prune).unwrap()), expected);
    assert_eq!(stored(), 2);
    // Another seed of the same points is no other experiment.
    let two_seeds = plan(&SweepRequest { seeds: 2, ..after.clone() }).unwrap();
    let more = Store::open(&folder.target(), &after.axes, "wire", &two_seeds, Others::Refuse).unwrap();
    assert_eq!(finish(&two_seeds, more).num_rows(), 4);
    assert_eq!(finish(&tasks, open(Others::Refuse).unwrap()), expected);
    assert_eq!(stored(), 4);
    for column in ["scenario", "scenario_hash", "version"] {
        assert!(expected.column_by_name(column).is_some(), "{column}");
    }
}

#[test]
fn seeds_and_axes_without_effect_are_found() {
    let effects = |axes: &[&str], seeds: u64, set: &str| {
        let folder = Folder::new(&format!("effects-{}-{}", axes.len(), set.len()));
        let request = SweepRequest { set: vec![set.to_string()], ..request(axes, seeds) };
        let (tasks, table) = (plan(&request).unwrap(), sweep(&folder, &request));
        let effects = Effects::of(&table, &request.axes);
        let inert = effects.axes_without_effect(&tasks, &request.axes).join(" ");
        (inert, effects.is_one_run(&tasks[..seeds as usize]))
    };
    let axes = ["links.wire.queue=50 packets,60 packets", "links.wire.delay=10ms,20ms"];
    assert_eq!(effects(&axes, 2, "links.wire.loss=0"), ("links.wire.queue".to_string(), true));
    assert_eq!(effects(&axes[1..], 2, "links.wire.loss=0.05"), (String::new(), false));
}
