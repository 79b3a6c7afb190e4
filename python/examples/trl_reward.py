"""A reward function for TRL's GRPOTrainer: what Dr. Kernel pays for the program in each completion."""

import kevo

judge = kevo.evaluators("configs/tasks/softmax/task.yaml", workers=2)


def kernel_reward(completions, **_):
    results = judge.evaluate_many([kevo.code_of(text) for text in completions], timeout_s=600)
    return [None if result is None else kevo.reward.dr_kernel(result) for result in results]


# trainer = trl.GRPOTrainer(model="Qwen/Qwen3-1.7B", reward_funcs=kernel_reward, train_dataset=prompts, args=...)
