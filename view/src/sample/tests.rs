use super::*;
use proptest::prelude::*;

/// Times that do not go back, each with a value.
fn series() -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..200u64, 0..1000u64), 0..600).prop_map(|steps| {
        let mut time = 0;
        let advance = |(step, value)| {
            // Many instants coincide, as they do in a simulator.
            time += if step < 40 { 0 } else { step };
            (time, value)
        };
        steps.into_iter().map(advance).collect()
    })
}

fn stretch() -> impl Strategy<Value = Buckets> {
    (0..40_000u64, 0..80_000u64, 1..200usize)
        .prop_map(|(from, span, count)| Buckets::new(from, from + span, count))
}

fn marks_of(points: &[(u64, u64)]) -> Marks {
    let mut marks = Marks::default();
    for &(time, value) in points {
        marks.push(time, value, value + 10);
    }
    marks.finish();
    marks
}

proptest! {
    #[test]
    fn no_extreme_of_a_level_is_lost_in_any_bucket(points in series(), buckets in stretch()) {
        let mut levels = Levels::default();
        for &(time, value) in &points {
            levels.push(time, value);
        }
        levels.finish();
        let sampled = levels.sample(&buckets);
        prop_assert_eq!(sampled.len(), buckets.count);
        for (k, bucket) in sampled.iter().enumerate() {
            let (from, to) = (buckets.edge(k), buckets.edge(k + 1));
            let before = points.iter().rfind(|(time, _)| *time < from).map(|(_, value)| *value);
            let inside = points.iter().filter(|(time, _)| (from..to).contains(time)).map(|(_, value)| *value);
            let all: Vec<u64> = before.into_iter().chain(inside).collect();
            let expected = all.first().map(|&first| Bucket {
                first,
                min: *all.iter().min().unwrap(),
                max: *all.iter().max().unwrap(),
                last: *all.last().unwrap(),
            });
            prop_assert_eq!(*bucket, expected, "bucket {} of {:?}", k, buckets);
        }
    }

    #[test]
    fn sums_over_buckets_are_exact_and_add_up(points in series(), buckets in stretch()) {
        let mut sums = Sums::default();
        for &(time, value) in &points {
            sums.push(time, value);
        }
        let expected = |from: u64, to: u64| -> u64 {
            points.iter().filter(|(time, _)| (from..to).contains(time)).map(|(_, value)| *value).sum()
        };
        let sampled = sums.sample(&buckets);
        for (k, sum) in sampled.iter().enumerate() {
            prop_assert_eq!(*sum, expected(buckets.edge(k), buckets.edge(k + 1)));
        }
        prop_assert_eq!(sampled.iter().sum::<u64>(), sums.between(buckets.from, buckets.to));
    }

    #[test]
    fn cells_keep_the_count_and_the_extremes_of_all_marks(points in series(), count in 1..300usize, row in 1..500u64) {
        let marks = marks_of(&points);
        let end = points.last().map_or(1, |(time, _)| time + 1);
        let cells = marks.sample(&Buckets::new(0, end, count), row);
        prop_assert_eq!(cells.iter().map(|cell| cell.count).sum::<u64>(), points.len() as u64);
        let least = |of: fn(&Cell) -> u64| cells.iter().map(of).min();
        prop_assert_eq!(least(|cell| cell.low), points.iter().map(|(_, value)| *value).min());
        prop_assert_eq!(
            cells.iter().map(|cell| cell.high).max(),
            points.iter().map(|(_, value)| *value + 10).max()
        );
        prop_assert!(cells.iter().all(|cell| cell.first <= cell.last && cell.low <= cell.high));
    }

    #[test]
    fn windows_side_by_side_count_every_mark_once(points in series(), cut in 0..40_000u64, count in 1..50usize) {
        let marks = marks_of(&points);
        let counted = |from, to| {
            marks.sample(&Buckets::new(from, to, count), 1).iter().map(|cell| cell.count).sum::<u64>()
        };
        let end = points.last().map_or(0, |(time, _)| *time).max(cut) + 2;
        prop_assert_eq!(counted(0, cut.max(1)) + counted(cut.max(1), end), points.len() as u64);
    }
}

/// Long enough for coarser versions to exist.
#[test]
fn a_million_marks_become_few_cells_that_count_a_million() {
    let mut marks = Marks::default();
    // A sequence that grows with the time, with a mark far off every 100,000.
    for k in 0..1_000_000u64 {
        let height = if k % 100_000 == 77 { 5_000_000_000 } else { k * 1448 };
        marks.push(k * 1000, height, height + 1448);
    }
    marks.finish();
    let whole = Buckets::new(0, 1_000_000_000, 1200);
    let cells = marks.sample(&whole, 5_000_000_000 / 400);
    assert!(cells.len() < 5 * 1200, "{} cells for 1200 columns", cells.len());
    assert_eq!(cells.iter().map(|cell| cell.count).sum::<u64>(), 1_000_000);
    let far = cells.iter().filter(|cell| cell.high > 5_000_000_000);
    assert_eq!(far.map(|cell| cell.count).sum::<u64>(), 10, "those far off stay apart");
    assert_eq!(marks.heights(0, 1_000_000_000), Some((0, 5_000_001_448)));
}

#[test]
fn marks_that_fit_on_the_screen_come_singly_and_unchanged() {
    let marks = marks_of(&[(5, 1000), (17, 3000), (18, 2000)]);
    let cells = marks.sample(&Buckets::new(0, 100, 100), 1);
    let single = |time, low| Cell { first: time, last: time, low, high: low + 10, count: 1 };
    assert_eq!(cells, [single(5, 1000), single(17, 3000), single(18, 2000)]);
}

#[test]
fn a_quantity_without_changes_in_sight_keeps_its_value() {
    let mut levels = Levels::default();
    levels.push(10, 7);
    levels.finish();
    let sampled = levels.sample(&Buckets::new(0, 100, 4));
    let seven = Bucket { first: 7, min: 7, max: 7, last: 7 };
    assert_eq!(sampled, [Some(seven); 4]);
    assert_eq!(levels.sample(&Buckets::new(0, 8, 2)), [None, None]);
}
