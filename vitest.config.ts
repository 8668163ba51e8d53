import { defineConfig } from 'vitest/config'

const HOUSE = ['test/architecture.test.ts', 'test/skills.test.ts']
const SLOW = ['test/**/*.slow.test.ts']
const CHAOS = ['test/**/*.chaos.test.ts']
/** Kills at planned moments, once more with samples that are isolated; many other files ask for isolation themselves. */
const ISOLATED = ['test/chaos/crash-attempt.chaos.test.ts']
/** What a crowded machine does to a verdict: other tests would be a crowd of their own, so it runs after them. */
const ALONE = ['test/e2e/busy-machine.chaos.test.ts']
const HOSTS = ['test/**/*.hosts.test.ts']

export default defineConfig({
  test: {
    pool: 'forks',
    // Most tests wait for processes, so one worker a core leaves the cores idle.
    maxWorkers: 3,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    retry: 0,
    passWithNoTests: true,
    reporters: ['default', './test/rig/closing-line.ts'],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          include: ['test/**/*.test.ts'],
          exclude: [...HOUSE, ...SLOW, ...CHAOS, ...HOSTS],
          globalSetup: ['test/rig/global-setup.ts'],
        },
      },
      { extends: true, test: { name: 'house', include: HOUSE } },
      {
        extends: true,
        test: {
          name: 'chaos',
          include: CHAOS,
          exclude: ALONE,
          testTimeout: 300_000,
          globalSetup: ['test/rig/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'isolated',
          include: ISOLATED,
          env: { ASSAY_TEST_ISOLATION: 'strict' },
          testTimeout: 300_000,
          globalSetup: ['test/rig/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'alone',
          include: ALONE,
          sequence: { groupOrder: 1 },
          testTimeout: 300_000,
          globalSetup: ['test/rig/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'hosts',
          include: HOSTS,
          testTimeout: 600_000,
          globalSetup: ['test/rig/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: SLOW,
          testTimeout: 600_000,
          // To remove 100,000 files takes long where others use the disk.
          hookTimeout: 300_000,
          globalSetup: ['test/rig/global-setup.ts'],
        },
      },
    ],
  },
})
